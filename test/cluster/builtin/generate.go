package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// generate makes all files of the folder: one document for each group and version, and the index.
func generate(kubernetes string) (map[string][]byte, error) {
	names, err := filepath.Glob(filepath.Join(kubernetes, "api/openapi-spec/v3/api*__v*_openapi.json"))
	if err != nil {
		return nil, fmt.Errorf("listing the documents: %w", err)
	}
	world := newWorld()
	files, listed := map[string][]byte{}, index{}
	for _, name := range names {
		d, err := read(name)
		if err != nil {
			return nil, err
		}
		if d.listed, err = discovered(kubernetes, d.name); err != nil {
			return nil, err
		}
		d.condense()
		if err := world.enrich(d); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		listed = append(listed, d.listed)
		file := strings.ReplaceAll(d.listed.GroupVersion, "/", "_") + ".json"
		if files[file], err = json.Marshal(d); err != nil {
			return nil, fmt.Errorf("encoding %s: %w", file, err)
		}
	}
	if files[indexFile], err = listed.encode(); err != nil {
		return nil, err
	}
	return files, nil
}

// read reads a document. The name of its file is its path in the API, with __ for slashes.
func read(name string) (*document, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	d := &document{name: strings.TrimSuffix(filepath.Base(name), "_openapi.json")}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return d, nil
}
