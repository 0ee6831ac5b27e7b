package evidence

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// maxEntries is how many files a working tree may have to be looked at: each costs a look at the disk.
	maxEntries = 10_000
	// maxListing is how long their list may be in bytes: 10,000 of 400 bytes.
	maxListing = 4 << 20
	// maxCompared is the largest file in bytes that is read to tell whether it was only touched.
	maxCompared = 1 << 20
)

// snapshot is what a working tree looks like at a time: its tracked and its unignored files, as the disk has them.
type snapshot struct {
	at      time.Time // before anything was looked at
	head    string    // "" before the first commit
	entries map[string]stamp
}

// stamp is what tells whether a file was written to.
type stamp struct {
	size, mtime int64  // nanoseconds
	blob        string // that the index has under this name; "" for an untracked file
}

// listing is git's own list of the files of a working tree that are not ignored. It compares nothing and runs no
// filter, unlike a status.
func listing() []string {
	return []string{"ls-files", "-z", "--stage", "--others", "--exclude-standard"}
}

// take looks at the working tree of repo. Links and folders of other repositories are left out.
func take(ctx context.Context, cfg Config, repo Repo) (*snapshot, error) {
	s := &snapshot{at: time.Now(), head: cfg.head(ctx, repo), entries: map[string]stamp{}}
	list, err := runGit(ctx, cfg, repo.Root, "", maxListing, listing()...)
	if err != nil {
		return nil, err
	}
	if strings.Count(list, "\x00") > maxEntries {
		return nil, errTooMuch
	}
	for item := range strings.SplitSeq(list, "\x00") {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		name, blob := listed(item)
		info, err := os.Lstat(filepath.Join(repo.Root, filepath.FromSlash(name)))
		if name == "" || err != nil || !info.Mode().IsRegular() {
			continue
		}
		s.entries[name] = stamp{info.Size(), info.ModTime().UnixNano(), blob}
	}
	return s, nil
}

// listed reads one item of a listing: MODE BLOB STAGE, a tab and a name, or the name of an untracked file.
func listed(item string) (name, blob string) {
	head, rest, ok := strings.Cut(item, "\t")
	if f := strings.Fields(head); ok && len(f) == 3 && fullHash(f[1]) != "" && len(f[0]) == 6 {
		return rest, f[1]
	}
	return item, ""
}

// head is the commit that repo is at; "" if it has none.
func (c Config) head(ctx context.Context, repo Repo) string {
	if repo.readHead() == unreadableRef {
		_, repo.Head = c.askHead(ctx, repo.Root)
	}
	return repo.Head
}

// onlyTouched reports whether the file has the bytes of its blob again, and so no change.
func onlyTouched(file string, before, after stamp) bool {
	if after.blob == "" || after.blob != before.blob || after.size > maxCompared {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	return blobHash(f, after.size, len(after.blob)) == after.blob
}

// blobHash is the hash that git gives size bytes of r: SHA-1, or SHA-256 where hashes are 64 digits long.
func blobHash(r io.Reader, size int64, digits int) string {
	var h hash.Hash = sha1.New()
	if digits == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	if n, err := io.Copy(h, io.LimitReader(r, size+1)); err != nil || n != size {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

var errUnknownMove = errors.New("what git itself changed cannot be told")

// movedByGit returns the files that differ between two commits which were there before: what a checkout or a pull
// changed is nobody's work of this moment. Where all commits in between were made since, it returns none.
func movedByGit(ctx context.Context, cfg Config, root string, before, after *snapshot) (map[string]bool, error) {
	if before.head == after.head {
		return nil, nil
	}
	if after.head == "" {
		return nil, errUnknownMove
	}
	if made, err := allMade(ctx, cfg, root, before, after); made || err != nil {
		return nil, err
	}
	if before.head == "" {
		return nil, errUnknownMove
	}
	names, err := runGit(ctx, cfg, root, "", maxListing, "diff-tree", "-r", "-z", "--name-only", "--no-renames", before.head, after.head)
	if err != nil {
		return nil, err
	}
	moved := map[string]bool{}
	for name := range strings.SplitSeq(names, "\x00") {
		moved[name] = true
	}
	return moved, nil
}

// maxMade is how many commits may be made between two looks.
const maxMade = 1000

// allMade reports whether every commit that after has and before has not is newer than before, and there is one.
func allMade(ctx context.Context, cfg Config, root string, before, after *snapshot) (bool, error) {
	args := []string{"rev-list", "--timestamp", "--max-count=" + strconv.Itoa(maxMade+1), after.head}
	if before.head != "" {
		args = append(args, "^"+before.head)
	}
	list, err := runGit(ctx, cfg, root, "", maxListing, args...)
	if err != nil {
		return false, err
	}
	commits := strings.Split(strings.TrimSpace(list), "\n")
	if list == "" || len(commits) > maxMade {
		return false, nil
	}
	for _, c := range commits {
		at, _, _ := strings.Cut(c, " ")
		if n, err := strconv.ParseInt(at, 10, 64); err != nil || n < before.at.Unix() {
			return false, nil
		}
	}
	return true, nil
}
