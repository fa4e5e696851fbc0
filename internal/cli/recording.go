package cli

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// recording is files that remember what was read of them, so that it can be told
// whether reading them again would give something else. What is written through it
// counts as read. It is safe for concurrent use.
type recording struct {
	simulate.Files

	mu     sync.Mutex
	read   map[string]string // what a file held, by path, as a digest
	listed map[string]string // what a directory held
}

func newRecording(files simulate.Files) *recording {
	return &recording{Files: files, read: map[string]string{}, listed: map[string]string{}}
}

// ReadFile implements [simulate.Files].
func (r *recording) ReadFile(path string) ([]byte, error) {
	data, err := r.Files.ReadFile(path)
	r.note(r.read, path, digest(string(data), err))
	return data, err
}

// ReadDir implements [simulate.Files].
func (r *recording) ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := r.Files.ReadDir(path)
	r.note(r.listed, path, listing(entries, err))
	return entries, err
}

// WriteFile implements [simulate.Files]. The directories above have something new in
// them then, of our own making.
func (r *recording) WriteFile(path string, data []byte) error {
	err := r.Files.WriteFile(path, data)
	if err != nil {
		return err
	}
	r.note(r.read, path, digest(string(data), nil))
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		r.mu.Lock()
		_, known := r.listed[above]
		r.mu.Unlock()
		if known {
			r.note(r.listed, above, listing(r.Files.ReadDir(above)))
		}
		if above == filepath.Dir(above) {
			return nil
		}
	}
}

// follow reads a path of CRDs, which are read elsewhere.
func (r *recording) follow(path string) {
	entries, err := r.ReadDir(path)
	if err != nil {
		// It is a file, or it is not there, and both are noted now.
		_, _ = r.ReadFile(path)
		return
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") && (entry.IsDir() || slices.Contains(definitionFiles(), filepath.Ext(entry.Name()))) {
			r.follow(filepath.Join(path, entry.Name()))
		}
	}
}

// definitionFiles are the names of files in which CRDs are looked for.
func definitionFiles() []string { return []string{".yaml", ".yml", ".json"} }

func (r *recording) note(into map[string]string, path, is string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	into[path] = is
}

// changed lists the paths that have become something else, in order.
func (r *recording) changed() []string {
	r.mu.Lock()
	read, listed := maps.Clone(r.read), maps.Clone(r.listed)
	r.mu.Unlock()
	var out []string
	for path, was := range read {
		if data, err := r.Files.ReadFile(path); digest(string(data), err) != was {
			out = append(out, path)
		}
	}
	for path, was := range listed {
		if listing(r.Files.ReadDir(path)) != was {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// files counts what was read.
func (r *recording) files() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.read)
}

// directories lists those in which changes show.
func (r *recording) directories() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for path := range r.read {
		out = append(out, source.Directories(path)...)
	}
	out = slices.AppendSeq(out, maps.Keys(r.listed))
	slices.Sort(out)
	return slices.Compact(out)
}

func digest(content string, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
}

func listing(entries []fs.DirEntry, err error) string {
	var names strings.Builder
	for _, entry := range entries {
		fmt.Fprintf(&names, "%q %t\n", entry.Name(), entry.IsDir())
	}
	return digest(names.String(), err)
}
