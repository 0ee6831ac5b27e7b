// Package seal encrypts what waits on disk to the public key of whoever will read it, and keeps the keys. What was sealed
// cannot be read again by who sealed it, nor by anybody once the private half is gone.
//
// The scheme is HPKE (RFC 9180) in its base mode: X25519, HKDF-SHA256, AES-256-GCM, all of the standard library. A header
// that is not secret is bound to what is sealed: Open fails where either was changed. Sealing says nothing of who sealed:
// everybody who has the public key can.
//
// The files, each referring to those below it:
//
//	ring.go, keyfile.go, key.go
//
// What bites:
//   - A private half lies in the same home as what is sealed to it. It protects what was copied or is left on the disk after
//     the half was deleted, and nothing from a program that runs as this user meanwhile.
//   - A key pair on disk is used by several processes at once: a private half may be deleted only when nothing names its
//     key any more, and not while one that read its public half may still be about to write (Ring.Prune).
package seal
