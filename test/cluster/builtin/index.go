package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// indexFile is the name of the index.
const indexFile = "index.json"

// index lists all resources, so that they can be named without a document being read.
type index []group

// group is a group and version, and what is served in it.
type group struct {
	Group     string     `json:"group"`
	Version   string     `json:"version"`
	File      string     `json:"file"`
	Resources []resource `json:"resources"`
}

// resource is a resource with the names by which kubectl takes it.
type resource struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Other []string `json:"other,omitempty"`
}

// discovered reads what the discovery of the same Kubernetes says of the group and version of a document.
func discovered(kubernetes string, d *document) (group, error) {
	data, err := os.ReadFile(filepath.Join(kubernetes, "api/discovery", d.name+".json"))
	if err != nil {
		return group{}, fmt.Errorf("reading discovery: %w", err)
	}
	var list struct {
		GroupVersion string `json:"groupVersion"`
		Resources    []struct {
			Name         string   `json:"name"`
			Kind         string   `json:"kind"`
			SingularName string   `json:"singularName"`
			ShortNames   []string `json:"shortNames"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return group{}, fmt.Errorf("reading the discovery of %s: %w", d.name, err)
	}
	g := group{Version: list.GroupVersion, File: strings.ReplaceAll(list.GroupVersion, "/", "_") + ".json"}
	if name, version, ok := strings.Cut(list.GroupVersion, "/"); ok {
		g.Group, g.Version = name, version
	}
	for _, r := range list.Resources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		one := resource{Name: r.Name, Kind: r.Kind, Other: r.ShortNames}
		if r.SingularName != "" && r.SingularName != r.Name {
			one.Other = append([]string{r.SingularName}, r.ShortNames...)
		}
		g.Resources = append(g.Resources, one)
	}
	return g, nil
}

func (x index) encode() ([]byte, error) {
	slices.SortFunc(x, func(a, b group) int { return strings.Compare(a.Group+"/"+a.Version, b.Group+"/"+b.Version) })
	data, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding the index: %w", err)
	}
	return append(data, '\n'), nil
}
