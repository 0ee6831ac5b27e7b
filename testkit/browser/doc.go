// Package browser drives a real Chromium over its debugging pipe, for tests of the page: it opens pages, evaluates, presses keys, sets
// widths and colour schemes, takes pictures, and notes what a page asked for and complained of.
//
// What bites: Find returns "" where no Chromium is installed, and tests are skipped then. A page's methods wait for the browser, as long
// as their context lets them.
package browser
