//go:build !operator

package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/internal/source"
)

// disk implements [simulate.Files]: the files that tests of the paths of a command line may read and write.
// See [source.Tree].
type disk struct {
	named []string // Who names a file that is a link means the file.
	trees []source.Tree
}

func newDisk(paths ...string) (*disk, error) {
	d := &disk{}
	for _, path := range paths {
		d.named = append(d.named, filepath.Clean(path))
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			path = filepath.Dir(path)
		}
		tree, err := source.NewTree(path)
		if err != nil {
			return nil, err
		}
		d.trees = append(d.trees, tree)
	}
	return d, nil
}

func (d *disk) open(path string) (file *os.File, err error) {
	for _, tree := range d.trees {
		if file, err = tree.Open(path); !errors.Is(err, source.ErrOutside) {
			break
		}
	}
	return file, err
}

// ReadFile implements [simulate.Files].
func (d *disk) ReadFile(path string) ([]byte, error) {
	if slices.Contains(d.named, filepath.Clean(path)) {
		file, err := source.ReadFile(path, strings.NewReader("")) // Standard input is no file.
		return file.Data, err
	}
	file, err := d.open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, source.MaxFile))
}

// ReadDir implements [simulate.Files].
func (d *disk) ReadDir(path string) ([]fs.DirEntry, error) {
	file, err := d.open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := file.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// WriteFile implements [simulate.Files].
func (d *disk) WriteFile(path string, data []byte) (err error) {
	for _, tree := range d.trees {
		if err = tree.WriteFile(path, data); !errors.Is(err, source.ErrOutside) {
			break
		}
	}
	return err
}
