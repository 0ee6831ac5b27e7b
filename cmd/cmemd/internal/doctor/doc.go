// Package doctor says how a daemon does (status), and of all that it stands on what is not well and what mends it (doctor).
//
// The files, each referring to those below it:
//
//	doctor.go, invariants.go, leftovers.go, agents.go, programs.go, provider.go, daemon.go, home.go, bundle.go, vectors.go,
//	search.go, model.go, log.go, status.go, status_vectors.go, status_providers.go, status_health.go, status_erasure.go,
//	status_damage.go, status_sharing.go, aside.go, examination.go
//
// What bites: a check must end soon, and must change nothing: it runs beside a daemon that may hang, over a home that may be
// damaged. A bundle goes to strangers: nothing that an agent said may be in it.
package doctor
