// Package replay runs recorded stretches of observer turns again: under any policy, to compare what each would have done
// (Compare); under the one that was in force, to prove that the record is explained by its own rules (Prove); and through
// today's grammar, to see which outputs would now come out differently (Reparse).
//
// A Scenario is the recorded stretch: outputs, their times and costs, and what the transport said. It is made by hand, or
// from the log (Record). Nothing here writes to a log: replay compares, it never re-decides history.
//
// The files, each referring to those below it:
//
//	run.go, engine.go, prove_choice.go, prove_session.go, reparse.go,
//	prove_circuit.go, prove_compare.go, record_inputs.go, examine.go, record.go, prove.go,
//	engine_early.go, engine_tape.go, scenario_read.go, scenario_scan.go, scenario_split.go, record_turns.go, read_ahead.go, prove_life.go,
//	types_of.go, parts.go, scenario_check.go, scenario.go, result.go, engine_agenda.go, audit.go
//
// What bites: what a respawned observer would have said, and cost, is not on record. It is an assumption of the scenario
// (Scenario.Respawn) and has to be shown with every figure that rests on it.
package replay
