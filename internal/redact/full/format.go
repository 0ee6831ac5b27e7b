package full

// file is what is read of a file of rules.
type file struct {
	Allowlist allowed `toml:"allowlist"`
	Rules     []entry `toml:"rules"`
}

// entry is a rule as the file has it.
type entry struct {
	ID         string    `toml:"id"`
	Regex      string    `toml:"regex"`
	Group      int       `toml:"secretGroup"`
	Entropy    float64   `toml:"entropy"`
	Keywords   []string  `toml:"keywords"`
	Allowlists []allowed `toml:"allowlists"`
}

// allowed is a list of exceptions as the file has it.
type allowed struct {
	Condition string   `toml:"condition"`
	Paths     []string `toml:"paths"`
	Target    string   `toml:"regexTarget"`
	Regexes   []string `toml:"regexes"`
	StopWords []string `toml:"stopwords"`
}
