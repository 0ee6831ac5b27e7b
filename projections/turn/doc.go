// Package turn is what views that count turns share: how turns end, and a fold that takes back what a turn has added to
// sums before it adds what is known of it now.
package turn
