package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
)

// write makes the folder hold these files and no other documents. Documents are compressed, the index is to be read by people.
func write(folder string, files map[string][]byte) error {
	old, err := filepath.Glob(filepath.Join(folder, "*.json.gz"))
	if err != nil {
		return fmt.Errorf("listing the old files: %w", err)
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("removing an old file: %w", err)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	for name, data := range files {
		if name != indexFile {
			name += ".gz"
			var err error
			if data, err = compress(data); err != nil {
				return fmt.Errorf("compressing %s: %w", name, err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	return nil
}

func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}
