package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrOutside is the error for a path that leads out of a [Tree].
var ErrOutside = errors.New("outside")

// Tree says which files a directory that a user has named may lead to. The files in it may be those of a
// stranger: the paths that they name, and links among them, lead no further than the project, and what is
// written stays in the directory. A path that the user names is not judged by a Tree.
type Tree struct {
	directory string // absolute
	project   string // around it, absolute
}

// NewTree returns the tree of a directory. Its project is the git work tree around it; where there is none, the
// working directory if that contains it, else the directory itself. Neither the home directory nor the root of
// the file system is a project.
func NewTree(directory string) (Tree, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return Tree{}, err
	}
	home, _ := os.UserHomeDir() // Empty is no absolute path.
	limited := func(at string) bool { return at != home && at != filepath.Dir(at) }
	for at := directory; at != filepath.Dir(at); at = filepath.Dir(at) {
		git, err := os.Lstat(filepath.Join(at, ".git"))
		if err == nil && (git.IsDir() || git.Mode().IsRegular()) && limited(at) {
			return Tree{directory, at}, nil
		}
	}
	here, err := os.Getwd() //nolint:forbidigo // It says what a user works on, as the work tree of git does.
	if err == nil && limited(here) && contains(here, directory) {
		return Tree{directory, here}, nil
	}
	return Tree{directory, directory}, nil
}

// contains reports whether a path is in a directory, or is the directory. Both are absolute.
func contains(directory, path string) bool {
	relative, err := filepath.Rel(directory, path)
	return err == nil && filepath.IsLocal(relative)
}

// locate returns the directory, or the project, that contains an absolute path. What is hidden belongs to
// neither, since .git and .env hold secrets, but the directory itself may be in a hidden one. A name with two
// dots, such as ..data, is one of a mounted ConfigMap.
func (t Tree) locate(absolute string) (root string, err error) {
	relative, err := filepath.Rel(t.directory, absolute)
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(relative, string(filepath.Separator)) {
		if strings.HasPrefix(name, ".") && name != "." && !strings.HasPrefix(name, "..") {
			return "", fmt.Errorf("%s is hidden, so it is %w", name, ErrOutside)
		}
	}
	for _, root := range []string{t.directory, t.project} {
		if contains(root, absolute) {
			return root, nil
		}
	}
	return "", fmt.Errorf("it is %w of %s", ErrOutside, t.project)
}

// Open opens a file or a directory for reading. A link is followed if what it leads to is in the tree.
func (t Tree) Open(path string) (*os.File, error) {
	file, err := t.open(path)
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return file, err
}

func (t Tree) open(path string) (*os.File, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := t.locate(absolute); err != nil {
		return nil, err
	}
	resolved := t // The user's own links are followed.
	for _, each := range []*string{&resolved.directory, &resolved.project, &absolute} {
		if *each, err = filepath.EvalSymlinks(*each); err != nil {
			return nil, err
		}
	}
	at, err := resolved.locate(absolute)
	if err != nil {
		return nil, fmt.Errorf("it is a link, and what it leads to: %w", err)
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	relative, err := filepath.Rel(at, absolute)
	if err != nil {
		return nil, err
	}
	if info, err := root.Stat(relative); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, errors.New("it is neither a file nor a directory") // To open a pipe is to wait for its writer.
	}
	return root.Open(relative)
}

// WriteFile writes a file in the directory, and makes the directories above it. It follows no link. A file that is
// there is replaced rather than changed, since it may be a hard link of one elsewhere.
func (t Tree) WriteFile(path string, data []byte) error {
	err := t.write(path, data)
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return err
}

func (t Tree) write(path string, data []byte) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := (Tree{t.directory, t.directory}).locate(absolute); err != nil {
		return err
	}
	if err := os.MkdirAll(t.directory, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(t.directory)
	if err != nil {
		return err
	}
	defer root.Close()
	relative, err := filepath.Rel(t.directory, absolute)
	if err != nil {
		return err
	}
	for at := relative; at != "."; at = filepath.Dir(at) {
		if info, err := root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link, which is not followed", filepath.Base(at))
		}
	}
	if err := root.MkdirAll(filepath.Dir(relative), 0o755); err != nil {
		return err
	}
	if info, err := root.Lstat(relative); err == nil && info.Mode().IsRegular() {
		if err := root.Remove(relative); err != nil {
			return err
		}
	}
	file, err := root.OpenFile(relative, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}
