// Package sleep waits for a time, or until nobody wants what comes behind it.
package sleep
