// Package turn says how turns end.
package turn
