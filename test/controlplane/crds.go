package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// establishTimeout is for each CRD; the API server usually needs well under a second.
const establishTimeout = time.Minute

// InstallCRDs creates the CustomResourceDefinitions of YAML files, or updates them, and returns when the API server
// serves every version of each, discovery lists it and its schema is published.
func (c *ControlPlane) InstallCRDs(ctx context.Context, files ...string) error {
	var crds []*unstructured.Unstructured
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("installing CRDs: %w", err)
		}
		decoded, err := decodeCRDs(data)
		if err != nil {
			return fmt.Errorf("installing CRDs: %s: %w", file, err)
		}
		crds = append(crds, decoded...)
	}
	for _, crd := range crds {
		if err := c.applyCRD(ctx, crd); err != nil {
			return fmt.Errorf("installing CRD %q: %w", crd.GetName(), err)
		}
	}
	for _, crd := range crds {
		if err := c.waitServed(ctx, crd); err != nil {
			return fmt.Errorf("waiting for CRD %q: %w", crd.GetName(), err)
		}
	}
	return nil
}

// decodeCRDs refuses other kinds: a file that holds more is not what the caller believes it is.
func decodeCRDs(data []byte) ([]*unstructured.Unstructured, error) {
	var crds []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		crd := &unstructured.Unstructured{}
		err := decoder.Decode(&crd.Object)
		switch {
		case errors.Is(err, io.EOF) && len(crds) == 0:
			return nil, errors.New("no CustomResourceDefinition in it")
		case errors.Is(err, io.EOF):
			return crds, nil
		case err != nil:
			return nil, err
		case len(crd.Object) == 0: // A document of comments alone.
		case crd.GetKind() != "CustomResourceDefinition":
			return nil, fmt.Errorf("kind %q is not a CustomResourceDefinition", crd.GetKind())
		default:
			crds = append(crds, crd)
		}
	}
}

// applyCRD replaces instead of applying, because the managed fields of a large schema would double an object that is
// near the size limit already.
func (c *ControlPlane) applyCRD(ctx context.Context, crd *unstructured.Unstructured) error {
	client := c.dynamic.Resource(definitions())
	_, err := client.Create(ctx, crd, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	current, err := client.Get(ctx, crd.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	update := crd.DeepCopy()
	update.SetResourceVersion(current.GetResourceVersion())
	_, err = client.Update(ctx, update, metav1.UpdateOptions{})
	return err
}

func (c *ControlPlane) waitServed(ctx context.Context, crd *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, establishTimeout)
	defer cancel()
	resources, err := served(crd)
	if err != nil {
		return err
	}
	for _, resource := range resources {
		if err := c.poll(ctx, func() bool { return c.listed(ctx, resource) }); err != nil {
			return fmt.Errorf("version %q is not served: %w", resource.Version, err)
		}
	}
	return nil
}

// served are the resources that a CRD promises.
func served(crd *unstructured.Unstructured) ([]schema.GroupVersionResource, error) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return nil, err
	}
	var resources []schema.GroupVersionResource
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _, _ := unstructured.NestedString(version, "name")
		if on, _, _ := unstructured.NestedBool(version, "served"); on {
			resources = append(resources, schema.GroupVersionResource{Group: group, Version: name, Resource: plural})
		}
	}
	return resources, nil
}

// listed says whether discovery lists a resource, its group and version are described, and a list of it is answered; none
// of these implies another.
func (c *ControlPlane) listed(ctx context.Context, resource schema.GroupVersionResource) bool {
	known, err := c.discovery.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	if err != nil || !slices.ContainsFunc(known.APIResources, func(r metav1.APIResource) bool {
		return r.Name == resource.Resource
	}) {
		return false
	}
	described, err := c.discovery.OpenAPIV3().Paths()
	if err != nil || described["apis/"+resource.GroupVersion().String()] == nil {
		return false
	}
	_, err = c.dynamic.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
	return err == nil
}

func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
}
