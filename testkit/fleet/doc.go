// Package fleet tests package share as a whole: machines with logs and copies in memory, a store that loses answers, delays, is cut
// off, forgets objects and gives old ones, and what is done to both in random order under testing/synctest. After each run every
// machine's copies must be the others' logs, and nothing that was forgotten may be anywhere.
package fleet
