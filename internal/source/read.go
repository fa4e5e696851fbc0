package source

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// maxFile is far above what the parser takes, and stops a file without end.
const maxFile = 4 << 20

// content is what a path holds at the moment.
type content struct {
	path      string
	directory bool
	files     []document.File
	errs      []error
}

// String names the path for messages.
func (c content) String() string {
	if c.path == Stdin {
		return "standard input"
	}
	return c.path
}

func (f *Files) read() []content {
	out := make([]content, len(f.paths))
	for i, path := range f.paths {
		out[i] = content{path: path}
		if info, err := os.Stat(path); path != Stdin && err == nil && info.IsDir() {
			out[i].readDirectory()
			continue
		}
		data, err := f.readPath(path)
		out[i].add(path, data, err)
	}
	return out
}

func (c *content) add(name string, data []byte, err error) {
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("reading rules: %w", err))
		return
	}
	c.files = append(c.files, document.File{Name: name, Data: data})
}

// readPath remembers what cannot be read again: standard input and pipes.
func (f *Files) readPath(path string) ([]byte, error) {
	if path == "" {
		return nil, errNoName
	}
	if data, ok := f.kept[path]; ok {
		return data, nil
	}
	if path == Stdin {
		return f.keep(path, f.stdin)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && !info.Mode().IsRegular() {
		return f.keep(path, file)
	}
	return readAll(file)
}

func (f *Files) keep(path string, from io.Reader) ([]byte, error) {
	data, err := readAll(from)
	if err == nil {
		f.kept[path] = data
	}
	return data, err
}

func (c *content) readDirectory() {
	c.directory = true
	entries, err := os.ReadDir(c.path)
	if err != nil {
		c.errs = []error{fmt.Errorf("reading rules: %w", err)}
		return
	}
	folders := ""
	for _, entry := range entries {
		path := filepath.Join(c.path, entry.Name())
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			folders = "; its folders are not looked into, so name them"
		}
		if !isRuleFile(entry.Name()) {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			continue
		}
		data, err := readFile(path)
		c.add(path, data, err)
	}
	if len(c.files)+len(c.errs) == 0 {
		c.errs = []error{fmt.Errorf("reading rules: no *.yaml, *.yml or *.json file in %s%s", c.path, folders)}
	}
}

// isRuleFile passes over the hidden files that editors and mounted ConfigMaps
// leave in a directory.
func isRuleFile(name string) bool {
	extensions := []string{".yaml", ".yml", ".json"}
	return !strings.HasPrefix(name, ".") && slices.Contains(extensions, filepath.Ext(name))
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file)
}

// ReadFile reads a file that holds no rules, or standard input, for what is
// parsed as rules are.
func ReadFile(path string, stdin io.Reader) (document.File, error) {
	data, err := New(nil, stdin, rules.Options{}).readPath(path)
	if err != nil {
		return document.File{}, fmt.Errorf("reading %s: %w", content{path: path}, err)
	}
	return document.File{Name: path, Data: data}, nil
}

func readAll(from io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(from, maxFile)) }

// digest tells whether anything changed.
type digest [sha256.Size]byte

// digestOf covers names, contents and errors, each with its length.
func digestOf(contents []content) digest {
	hash := sha256.New()
	write := func(data []byte) {
		hash.Write(binary.AppendUvarint(nil, uint64(len(data))))
		hash.Write(data)
	}
	for _, c := range contents {
		for _, file := range c.files {
			write([]byte(file.Name))
			write(file.Data)
		}
		for _, err := range c.errs {
			write([]byte(err.Error()))
		}
	}
	return digest(hash.Sum(nil))
}
