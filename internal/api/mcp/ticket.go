package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// ticket confirms one plan, and names what would go: "erase-12-records-up-to-3481-" and a mark that only this process makes
// of that and of what was asked for. One for other arguments, or from another process, is worth nothing.
func (s *Server) ticket(in forgetArgs, records int, upTo events.Position) string {
	name := fmt.Sprintf("erase-%d-records-up-to-%d-", records, upTo)
	return name + s.mark(in, name)
}

// mark binds a name to what was asked for.
func (s *Server) mark(in forgetArgs, name string) string {
	asked, err := json.Marshal(in)
	if err != nil {
		panic(err) // texts always encode
	}
	h := hmac.New(sha256.New, s.secret[:])
	h.Write([]byte(name))
	h.Write(asked)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// validTicket returns the position up to which a ticket for the arguments was made.
func (s *Server) validTicket(in forgetArgs, ticket string) (events.Position, bool) {
	at := strings.LastIndexByte(ticket, '-') + 1
	name, mark := ticket[:at], ticket[at:]
	if !hmac.Equal([]byte(mark), []byte(s.mark(in, name))) {
		return 0, false
	}
	name = strings.TrimSuffix(name, "-")
	position, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	return events.Position(position), err == nil
}
