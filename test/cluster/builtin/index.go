package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// indexFile is the name of the index.
const indexFile = "index.json"

// index lists all resources and subresources as discovery does, so that they can be named without a document being read.
type index []metav1.APIResourceList

// discovered reads what the discovery of the same Kubernetes says of the group and version of a document.
func discovered(kubernetes, name string) (list metav1.APIResourceList, err error) {
	data, err := os.ReadFile(filepath.Join(kubernetes, "api/discovery", name+".json"))
	if err != nil {
		return list, fmt.Errorf("reading discovery: %w", err)
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return list, fmt.Errorf("reading the discovery of %s: %w", name, err)
	}
	for i := range list.APIResources {
		r := &list.APIResources[i]
		r.StorageVersionHash, r.Categories = "", nil
		if r.SingularName == r.Name {
			r.SingularName = ""
		}
	}
	return list, nil
}

func (x index) encode() ([]byte, error) {
	slices.SortFunc(x, func(a, b metav1.APIResourceList) int { return strings.Compare(a.GroupVersion, b.GroupVersion) })
	data, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding the index: %w", err)
	}
	return append(data, '\n'), nil
}
