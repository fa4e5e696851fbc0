package v1alpha1_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// root is the repository as a test sees it.
const root = "../../.."

// definitions are those in deploy/crds.
func definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, name := range []string{"rulesets", "clusterrulesets"} {
		data, err := os.ReadFile(filepath.Join(root, "deploy", "crds", name+".yaml"))
		if err != nil {
			return nil, err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, definition); err != nil {
			return nil, err
		}
		out = append(out, definition)
	}
	return out, nil
}

// server is the API server's own code with our definitions, which all tests share.
var server = sync.OnceValues(func() (*apiserver.Server, error) {
	all, err := definitions()
	if err != nil {
		return nil, err
	}
	return apiserver.New(all)
})

// stored asks an API server that has nothing yet to keep a set. It returns what the server
// then has, or else what it says.
func stored(t testing.TB, set map[string]any) (map[string]any, string) {
	t.Helper()
	s, err := server()
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	path := "http://server/apis/dyncontroller.dev/v1alpha1/"
	if set["kind"] == "RuleSet" {
		path += "namespaces/default/" + v1alpha1.RuleSets().Resource
	} else {
		path += v1alpha1.ClusterRuleSets().Resource
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	world := storage.NewWorld(clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	answer, err := s.Transport(world).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // It is in memory.
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusCreated {
		message, _ := out["message"].(string)
		return nil, message
	}
	return out, ""
}

// decoded is YAML or JSON as an API server reads it.
func decoded(t testing.TB, data []byte) map[string]any {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(asJSON, &out); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return out
}

// kinds are ours, with how deploy/crds describes them.
func kinds(t *testing.T) map[schema.GroupVersionResource]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	return map[schema.GroupVersionResource]*apiextensionsv1.CustomResourceDefinition{
		v1alpha1.RuleSets(): all[0], v1alpha1.ClusterRuleSets(): all[1],
	}
}

func asYAML(t *testing.T, object map[string]any) []byte {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
