package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// atOnce is how many requests the bench itself has under way.
const atOnce = 8

// stage is the API server and what is in it.
type stage struct {
	plane     *controlplane.ControlPlane
	objects   dynamic.Interface
	metadata  metadata.Interface
	discovery discovery.DiscoveryInterface
	job       job
	size      int // of a TidbCluster, in bytes
	total     int // of TidbClusters
}

// setStage starts a control plane and fills it. The caller stops the control plane, also where there is an error.
func setStage(ctx context.Context, o options, j job, said io.Writer) (s *stage, err error) {
	s = &stage{job: j, size: o.size, total: o.objects}
	if s.plane, err = controlplane.Start(ctx, controlplane.Options{Environment: []string{"GOMEMLIMIT=" + o.planeLimit}}); err != nil {
		return s, err
	}
	module, err := controlplane.ModuleDir(ctx, controlplane.TidbOperator)
	if err != nil {
		return s, err
	}
	crd := filepath.Join(module, "manifests", "crd", "v1", "pingcap.com_tidbclusters.yaml")
	if o.slim {
		if crd, err = slimCRD(crd, s.plane.Dir()); err != nil {
			return s, fmt.Errorf("making a smaller CRD: %w", err)
		}
	}
	if err := s.plane.InstallCRDs(ctx, crd); err != nil {
		return s, err
	}
	if s.objects, err = dynamic.NewForConfig(s.plane.RESTConfig()); err != nil {
		return s, err
	}
	if s.metadata, err = metadata.NewForConfig(s.plane.RESTConfig()); err != nil {
		return s, err
	}
	if s.discovery, err = discovery.NewDiscoveryClientForConfig(s.plane.RESTConfig()); err != nil {
		return s, err
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": benchNamespace},
	}}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if _, err := s.objects.Resource(namespaces).Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return s, err
	}
	began := time.Now()
	if err := s.fill(ctx); err != nil {
		return s, fmt.Errorf("creating the objects: %w", err)
	}
	fmt.Fprintf(said, "created %d TidbClusters in %s\n", s.total, time.Since(began).Round(time.Second/10))
	return s, nil
}

// slimCRD writes the CRD without what it says of the spec and the status, of which the API server keeps and checks all. Its schema
// is 1.2 MB otherwise, and the API server compares most of it at each write.
func slimCRD(path, dir string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return "", err
	}
	for _, version := range crd.Spec.Versions {
		for _, part := range []string{"spec", "status"} {
			version.Schema.OpenAPIV3Schema.Properties[part] = apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: new(true),
			}
		}
	}
	if data, err = yaml.Marshal(crd); err != nil {
		return "", err
	}
	slim := filepath.Join(dir, "tidbclusters.yaml")
	return slim, os.WriteFile(slim, data, 0o600)
}

// clusterName is the name of a TidbCluster that is there all the time.
func clusterName(i int) string { return fmt.Sprintf("basic-%06d", i) }

// replicasOf has something to do for the rules in every second TidbCluster.
func replicasOf(i int) int { return 1 + i%2*2 }

func (s *stage) fill(ctx context.Context) error {
	return each(ctx, s.total, func(ctx context.Context, i int) error {
		if err := s.create(ctx, clusterName(i), replicasOf(i), nil); err != nil || !s.job.pods || i%2 == 0 {
			return err
		}
		for pod := range 2 {
			object := newPod(clusterName(i), pod)
			if _, err := s.objects.Resource(pods()).Namespace(benchNamespace).Create(ctx, object, metav1.CreateOptions{FieldManager: "kubectl"}); err != nil {
				return err
			}
		}
		return nil
	})
}

// each calls a function with the numbers below n, with some of them at a time.
func each(ctx context.Context, n int, do func(context.Context, int) error) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := 0; i < n && inner.Err() == nil; i++ {
		group.Go(func() error { return do(inner, i) })
	}
	return errors.Join(group.Wait(), ctx.Err())
}

func (s *stage) create(ctx context.Context, name string, replicas int, labels map[string]string) error {
	object, err := newTidbCluster(name, replicas, s.size)
	if err != nil {
		return err
	}
	if labels != nil {
		object.SetLabels(labels)
	}
	_, err = s.objects.Resource(tidbClusters()).Namespace(benchNamespace).Create(ctx, object, metav1.CreateOptions{FieldManager: "kubectl"})
	return err
}

// disturb makes updates that no rule reads: how many regions a store leads, which tidb-operator writes all the time, or what is
// said about the state of a Pod.
func (s *stage) disturb(ctx context.Context, updates, value int) error {
	resource, names, subresources := tidbClusters(), s.total, []string(nil)
	name := clusterName
	patch := func(i int) string {
		return fmt.Sprintf(`{"status":{"tikv":{"stores":{"1":{"leaderCount":%d}}}}}`, value+i/names)
	}
	if s.job.pods {
		resource, names, subresources = pods(), s.total/2, []string{"status"}
		name = func(i int) string { return podName(clusterName(2*i+1), 0) }
		patch = func(i int) string { return fmt.Sprintf(`{"status":{"message":"update %d"}}`, value+i/names) }
	}
	return each(ctx, updates, func(ctx context.Context, i int) error {
		_, err := s.metadata.Resource(resource).Namespace(benchNamespace).Patch(ctx, name(i%names),
			types.MergePatchType, []byte(patch(i)), metav1.PatchOptions{FieldManager: "kubectl"}, subresources...)
		return err
	})
}

// clear deletes all objects that a selector selects.
func (s *stage) clear(ctx context.Context, resource schema.GroupVersionResource, selector string) error {
	client := s.metadata.Resource(resource).Namespace(benchNamespace)
	for {
		if err := client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: selector}); err != nil {
			return fmt.Errorf("deleting %s: %w", resource.Resource, err)
		}
		left, err := client.List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: 1})
		if err != nil {
			return fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		if len(left.Items) == 0 {
			return nil
		}
	}
}

func (s *stage) requests(ctx context.Context) (controlplane.Requests, error) {
	return s.plane.Requests(ctx)
}

// cpu is the CPU time of the API server since it began, in seconds. It tells to the hundredth of a second.
func (s *stage) cpu(ctx context.Context) (float64, error) {
	data, err := s.discovery.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	_, rest, _ := strings.Cut(string(data), "\nprocess_cpu_seconds_total ")
	value, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseFloat(value, 64)
}

// sizes are those of the JSON of one object, without and with managedFields.
func (s *stage) sizes(ctx context.Context) (without, with int, err error) {
	object, err := s.objects.Resource(tidbClusters()).Namespace(benchNamespace).Get(ctx, clusterName(0), metav1.GetOptions{})
	if err != nil {
		return 0, 0, err
	}
	if with, err = jsonSize(object); err != nil {
		return 0, 0, err
	}
	object.SetManagedFields(nil)
	without, err = jsonSize(object)
	return without, with, err
}
