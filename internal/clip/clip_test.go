package clip

import "testing"

func TestHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 4, "abc"},
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"abc", 0, ""},
		{"aé", 3, "aé"},
		{"aé", 2, "a"},
		{"é", 1, ""},
		{"a€b", 3, "a"},
		{"a€b", 4, "a€"},
		{"😀😀", 7, "😀"},
		{"a\x80\x80\x80", 3, ""}, // they go with the character before them
		{"\x80\x80\x80\x80", 3, ""},
	} {
		if got := Head(c.s, c.n); got != c.want {
			t.Errorf("Head(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}
