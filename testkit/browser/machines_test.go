package browser

import (
	"regexp"
	"testing"
)

// TestMachines: where two homes share memory the page of one says which machines there are, and whose the rows of the other are. Before that it says
// nothing of machines.
func TestMachines(t *testing.T) {
	desktop, laptop := newWorld(t), newWorld(t)
	store := t.TempDir()
	desktop.works("one", "what the desktop did", 2)
	desktop.saves("The desktop keeps the quokka", "by the door")
	alone := desktop.page("/ui/")
	desktop.shows(alone, "The desktop keeps the quokka")
	desktop.sees(alone, `![...document.querySelectorAll("h2")].some((h) => h.textContent === "Machines")`)

	made := desktop.cmemd("join", store, "--name", "desktop")
	code := regexp.MustCompile(`(?m)^  cmemd join ([a-z0-9-]+)$`).FindStringSubmatch(made)
	if code == nil {
		t.Fatalf("no code in:\n%s", made)
	}
	laptop.cmemd("join", code[1], "--name", "laptop")
	now := laptop.page("/ui/")
	laptop.sees(now, `document.body.innerText.includes("The desktop keeps the quokka")`)
	laptop.sees(now, `[...document.querySelectorAll(".row")].some((r) => r.innerText.includes("quokka") && r.innerText.includes("desktop"))`)
	laptop.to(now, "/ui/")
	laptop.sees(now, `[...document.querySelectorAll("section")].some((s) => s.querySelector("h2")?.textContent === "Machines" &&
		s.innerText.includes("desktop") && s.innerText.includes("laptop") && s.innerText.includes("this"))`)
}
