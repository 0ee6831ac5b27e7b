package client

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/api"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	in := ": comment\n\nid: 7\nevent: progress\ndata: {\"a\":\ndata: 1}\n\nretry: 5\ndata\n\nevent: lost\n\ndata: cut"
	var got []string
	for m, err := range messages(strings.NewReader(in)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s|%s|%s", m.id, m.event, m.data))
	}
	if diff := cmp.Diff([]string{"7|progress|{\"a\":\n1}", "||"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte("id: 7\nevent: progress\ndata: 1\n\n"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		for m, err := range messages(bytes.NewReader(b)) {
			if err == nil {
				_, _ = m.workDone(nil, new(api.Verified))
			}
		}
	})
}
