// Package replay runs recorded stretches of observer turns again: under any policy, to compare what each would have done
// (Run); under the one that was in force, to prove that the record is explained by its own rules (Prove); and through
// today's grammar, to see which outputs would now come out differently (Reparse).
//
// A Scenario is the recorded stretch: outputs, their times and costs, and what the transport said. It is made by hand, or
// from the log (Record). Nothing here writes to a log: replay compares, it never re-decides history.
//
// What bites: what a respawned observer would have said, and cost, is not on record. It is an assumption of the scenario
// (Scenario.Respawn) and has to be shown with every figure that rests on it.
package replay
