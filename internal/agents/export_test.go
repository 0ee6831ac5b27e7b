package agents

// Len is how many lines it knows.
func (k *InjectedText) Len() int {
	if k == nil {
		return 0
	}
	return len(k.lines)
}
