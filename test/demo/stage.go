package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// stage is an API server that knows TidbClusters and has some.
type stage struct {
	// dir is a temporary folder for all that the API server keeps.
	dir      string
	audit    audit
	plane    *controlplane.ControlPlane
	clusters dynamic.ResourceInterface
	events   dynamic.ResourceInterface
	// before are the sample clusters as the API server stored them.
	before map[string]*unstructured.Unstructured
}

// setting is a stage in the making. Its methods may be called concurrently.
type setting struct {
	cancel context.CancelFunc
	done   chan struct{}
	stage  stage
	err    error
}

func setStage(ctx context.Context) *setting {
	ctx, cancel := context.WithCancel(ctx)
	s := &setting{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = s.stage.set(ctx)
	}()
	return s
}

func (s *setting) wait() (*stage, error) {
	<-s.done
	return &s.stage, s.err
}

// strike takes everything down, finished or not.
func (s *setting) strike() error {
	s.cancel()
	<-s.done
	var err error
	if s.stage.plane != nil {
		err = s.stage.plane.Stop()
	}
	return errors.Join(err, os.RemoveAll(s.stage.dir))
}

func (s *stage) set(ctx context.Context) error {
	operator, err := controlplane.ModuleDir(ctx, controlplane.TidbOperator)
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "dyncontroller-demo-"); err != nil {
		return err
	}
	s.audit = audit{s.dir}
	arguments, err := s.audit.arguments()
	if err != nil {
		return err
	}
	if s.plane, err = controlplane.Start(ctx, controlplane.Options{Dir: s.dir, APIServerArgs: arguments}); err != nil {
		return err
	}
	if err := s.plane.InstallCRDs(ctx, filepath.Join(operator, "manifests", "crd", "v1", "pingcap.com_tidbclusters.yaml")); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(s.plane.RESTConfig())
	if err != nil {
		return err
	}
	s.clusters = client.Resource(schema.GroupVersionResource{
		Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters",
	}).Namespace(metav1.NamespaceDefault)
	s.events = client.Resource(schema.GroupVersionResource{
		Group: "events.k8s.io", Version: "v1", Resource: "events",
	}).Namespace(metav1.NamespaceDefault)
	return s.addSamples(ctx, filepath.Join(operator, "examples"))
}

func (s *stage) addSamples(ctx context.Context, examples string) error {
	s.before = map[string]*unstructured.Unstructured{}
	for _, sample := range samples() {
		object, err := sample.load(examples)
		if err != nil {
			return err
		}
		// Of a CRD that is younger than two seconds, the API server delays every create, but no apply, by as much.
		s.before[sample.name], err = s.clusters.Apply(ctx, sample.name, object, metav1.ApplyOptions{FieldManager: "samples"})
		if err != nil {
			return fmt.Errorf("creating the TidbCluster %q: %w", sample.name, err)
		}
	}
	return nil
}

// env points kubectl and dyncontroller at the API server, and kubectl's cache at a folder that is removed in the end.
func (s *stage) env() []string {
	return []string{
		"KUBECONFIG=" + s.plane.Kubeconfig(),
		"KUBECACHEDIR=" + filepath.Join(s.dir, "kubectl-cache"),
	}
}

// list returns the TidbClusters by name.
func (s *stage) list(ctx context.Context) (map[string]*unstructured.Unstructured, error) {
	list, err := s.clusters.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the TidbClusters: %w", err)
	}
	out := map[string]*unstructured.Unstructured{}
	for _, object := range list.Items {
		out[object.GetName()] = &object
	}
	return out, nil
}
