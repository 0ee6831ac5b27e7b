// Package space says which machines share memory, and gives them the keys by which nobody else reads it. A space is what one store
// holds for those machines; machines enter it by a code and leave it by a person's word.
//
// The manifest is a chain of changes, each signed by a machine that was in the space then, by an invitation or by the recovery
// code. A space's id is the hash of its first change, and it stands in every code: so a store can keep a manifest from a machine, or
// give an old one, but not another's. A machine keeps the chain that it saw last, and takes only what continues it.
//
// Segments are sealed with the key of an epoch. A key is in the store once for each machine, sealed to that machine's public key,
// and its hash is in the change that began its epoch. Who is revoked gets no key of a later epoch.
//
// Machines' names are sealed with an epoch's key too: whoever keeps the store reads how many there are, when they came and went, and who
// let whom in, not what they are called.
//
// All keys of a machine, an invitation or a recovery code are derived from one secret: device.key holds a machine's, a code holds
// the others'. An invitation is a member for one change, the one by which a machine enters, so nobody has to be awake for it.
//
// The files, each referring to those below it:
//
//	renew.go, members.go, space.go, chain.go, file.go, patient.go, manifest.go, change.go, name.go, wrap.go, code.go, keys.go,
//	rights_unix.go, rights_other.go, id.go
//
// What bites:
//   - A revoked machine keeps what it read. What it can still send is refused by Manifest.Accepts.
//   - Where all machines and the recovery code are lost nobody opens the space again.
//   - On a store that is not strong two machines that change the manifest at once may lose one of the changes; whoever's entry is
//     lost finds that the chain does not continue the one that it knows (ErrDiverged), and enters again.
//   - Keys are sealed by ML-KEM-768 with X25519, not by package seal's X25519 alone: what lies at somebody else's place for years
//     may meet a machine that breaks the latter, what waits in a spool does not.
package space
