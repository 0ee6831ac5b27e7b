//go:build !linux && !darwin

package homedir

// KeepPrivate does nothing: here the folder of the home says who may read what is in it.
func KeepPrivate() {}
