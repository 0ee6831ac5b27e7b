//go:build !race

package projections

const checked = false
