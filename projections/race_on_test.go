//go:build race

package projections

// checked says that the compiler has put checks of pointers into bbolt: they end the program where a fault in a
// damaged page could be recovered from.
const checked = true
