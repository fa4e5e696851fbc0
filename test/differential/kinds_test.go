package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/test/corpus"
)

// kind is what sequences are made of.
type kind struct {
	*schema.Resource
	custom bool
	// seed is a built-in object as the API server stores it, and edits are what is done
	// to it; those of custom resources are made from their schema.
	seed  map[string]any
	edits []edit
}

// path is where its objects are, with a namespace or without.
func (k *kind) path(namespace string) string {
	at := "/apis/" + k.Group + "/" + k.Version
	if k.Group == "" {
		at = "/api/" + k.Version
	}
	if k.Namespaced {
		at += "/namespaces/" + namespace
	}
	return at + "/" + k.GroupVersionResource.Resource
}

func (k *kind) apiVersion() string { return k.GroupVersion().String() }

// definitions are CRDs of real projects that have something of their own: lists that
// are maps, defaults, rules, embedded objects, several versions, scale.
var definitions = map[string][]string{
	"tidb-operator":       {"pingcap.com_tidbclusters.yaml", "pingcap.com_tidbdashboards.yaml"},
	"gateway-api":         {"gateway.networking.k8s.io_httproutes.yaml", "gateway.networking.k8s.io_gateways.yaml", "gateway.networking.k8s.io_referencegrants.yaml"},
	"cert-manager":        {"cert-manager.io_certificates.yaml", "cert-manager.io_clusterissuers.yaml"},
	"argo-rollouts":       {"rollout-crd.yaml"},
	"keda":                {"keda.sh_scaledjobs.yaml", "keda.sh_scaledobjects.yaml"},
	"prometheus-operator": {"monitoring.coreos.com_podmonitors.yaml", "monitoring.coreos.com_prometheusagents.yaml", "monitoring.coreos.com_prometheusrules.yaml"},
	"cilium":              {"ciliumbgppeerconfigs.yaml", "ciliumloadbalancerippools.yaml", "ciliumlocalredirectpolicies.yaml"},
	"tekton-pipelines":    {"300-task.yaml"},
}

// world is what all sequences share.
type world struct {
	kinds  []*kind
	files  []string // with the definitions, for the real API server
	server *apiserver.Server
}

// newWorld reads the definitions, which it writes into a folder.
func newWorld(ctx context.Context, folder string) (*world, error) {
	files, err := filesOf(ctx)
	if err != nil {
		return nil, err
	}
	w := &world{}
	var read []*crd.Definition
	var native []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		found, err := crd.Read(file.Name, file.Data)
		if err != nil {
			return nil, fmt.Errorf("reading the definitions: %w", err)
		}
		for _, d := range found {
			definition, err := apiserver.Definition(d.Document)
			if err != nil {
				return nil, fmt.Errorf("reading the definitions: %w", err)
			}
			native = append(native, definition)
			if err := w.keep(folder, d.Document); err != nil {
				return nil, err
			}
		}
		read = append(read, found...)
	}
	if w.server, err = apiserver.New(native); err != nil {
		return nil, fmt.Errorf("starting the simulated API server: %w", err)
	}
	source := crd.NewSource(read)
	for _, name := range source.Resources() {
		w.kinds = append(w.kinds, &kind{Resource: source.Resource(name.GroupVersionResource), custom: true})
	}
	for _, b := range builtins() {
		gvr := apischema.FromAPIVersionAndKind(b.manifest["apiVersion"].(string), "").GroupVersion().WithResource(b.resource)
		resource := builtin.Source().Resource(gvr)
		if resource == nil {
			return nil, fmt.Errorf("nothing is known of %s", gvr)
		}
		w.kinds = append(w.kinds, &kind{Resource: resource, seed: b.manifest, edits: b.edits})
	}
	return w, nil
}

// withoutWebhooks is a definition without those that would convert between versions:
// there are none.
func withoutWebhooks(document map[string]any) map[string]any {
	without := runtime.DeepCopyJSON(document)
	unstructured.RemoveNestedField(without, "spec", "conversion")
	return without
}

// keep writes a definition for the real API server.
func (w *world) keep(folder string, document map[string]any) error {
	data, err := json.Marshal(withoutWebhooks(document))
	if err != nil {
		return fmt.Errorf("encoding a definition: %w", err)
	}
	at := filepath.Join(folder, fmt.Sprintf("%d.yaml", len(w.files)))
	w.files = append(w.files, at)
	if err := os.WriteFile(at, data, 0o600); err != nil {
		return fmt.Errorf("writing the definitions: %w", err)
	}
	return nil
}

// filesOf are the definitions, and those of this test.
func filesOf(ctx context.Context) ([]document.File, error) {
	var out []document.File
	for _, project := range corpus.Projects() {
		wanted := definitions[project.Name]
		if wanted == nil {
			continue
		}
		files, err := corpus.Files(ctx, project)
		if err != nil {
			return nil, fmt.Errorf("looking for definitions: %w", err)
		}
		for _, file := range files {
			if slices.ContainsFunc(wanted, func(name string) bool { return strings.HasSuffix(file.Name, "/"+name) }) {
				out = append(out, file)
			}
		}
	}
	const own = "testdata/gadgets.yaml"
	data, err := os.ReadFile(own)
	if err != nil {
		return nil, fmt.Errorf("looking for definitions: %w", err)
	}
	return append(out, document.File{Name: own, Data: data}), nil
}
