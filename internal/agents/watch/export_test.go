package watch

// Base is the folder below which all files of the rule lie.
func (r Rule) Base() string { return r.base }
