//go:build race

package race

// Enabled says whether the race detector was built in.
const Enabled = true
