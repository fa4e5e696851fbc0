package floors

// House lists every package of the module, floor by floor. A package imports only from floors below its own, never
// from its neighbours.
func House() [][]string {
	return [][]string{
		{"./test/corpus", "./test/demo", "./test/differential", "./test/docs", "./test/e2e", "./test/hostile/probe", "./test/mutation", "./test/parity", "./test/scorecard", "./test/tenants", "./test/worlds"},
		{"./test/virtual"},
		{"./test/archive", "./test/controlplane", "./test/floors", "./test/generate", "./test/hostile", "./test/oracle", "./test/proxy", "./test/schemas", "./test/steps"},
		{"./cmd/dyncontroller"},
		{"./internal/cli"},
		{"./internal/operator"},
		{"./internal/access", "./internal/config", "./internal/discovery", "./internal/election", "./internal/findings", "./internal/rbac", "./internal/scrapeauth", "./internal/setstatus", "./internal/source", "./internal/telemetry"},
		{"./pkg/simulate/junit"},
		{"./pkg/simulate"},
		{"./pkg/simulate/coverage", "./pkg/simulate/scenario"},
		{"./pkg/simulate/cluster"},
		{"./pkg/simulate/apiserver"},
		{"./pkg/simulate/queue"},
		{"./pkg/simulate/storage"},
		{"./pkg/engine"},
		{"./pkg/engine/dryrun"},
		{"./pkg/engine/cleanup"},
		{"./pkg/engine/events", "./pkg/engine/history", "./pkg/engine/inventory"},
		{"./pkg/engine/breaker", "./pkg/engine/conflict", "./pkg/engine/limit", "./pkg/engine/workers"},
		{"./pkg/engine/guard"},
		{"./pkg/engine/mask"},
		{
			"./pkg/engine/dependencies", "./pkg/engine/informer", "./pkg/engine/naming", "./pkg/engine/priorityqueue", "./pkg/engine/write",
		},
		{"./pkg/engine/compact", "./pkg/engine/live"},
		{"./pkg/client"},
		{"./pkg/rules/diagram", "./pkg/rules/scaffold"},
		{"./pkg/rules", "./pkg/rules/editor"},
		{"./pkg/rules/lint"},
		{"./pkg/rules/names"},
		{"./pkg/rules/action", "./pkg/rules/spec"},
		{"./pkg/rules/lookup"},
		{"./pkg/rules/template"},
		{"./pkg/rules/expression/check", "./pkg/rules/schema/builtin"},
		{"./pkg/rules/expression", "./pkg/rules/schema/crd"},
		{"./pkg/rules/expression/syntax", "./pkg/rules/schema/openapi"},
		{"./pkg/rules/expression/function"},
		{"./pkg/rules/typing"},
		{"./pkg/rules/field", "./pkg/rules/schema"},
		{"./pkg/rules/document", "./pkg/rules/projection"},
		{"./pkg/rules/expression/value", "./pkg/rules/footprint", "./pkg/rules/trace"},
		{"./pkg/plan/compare"},
		{"./pkg/plan"},
		{"./pkg/api/v1alpha1", "./pkg/printable", "./pkg/redact"},
	}
}

// Ban says what some packages may not import.
type Ban struct {
	Why    string   // Ends the message, after a colon.
	Who    []string // Patterns of the go command: "./pkg/..." is that folder and all below it.
	Except []string // Patterns of those among Who that may.
	What   []string // Patterns of import paths.
	Deep   bool     // Nor through other packages.
}

// effects are the packages that read or change the world.
func effects() []string {
	return []string{
		"net", "net/http/...", "os/...", "syscall", "log/...", "math/rand/...", "crypto/rand", "k8s.io/klog/...",
		"github.com/go-logr/...", "github.com/prometheus/...", "github.com/fsnotify/...",
	}
}

// Bans are the rules that the order of the floors does not express.
func Bans() []Ban {
	core := []string{"./pkg/rules/...", "./pkg/plan/..."}
	return []Ban{
		{
			Why:  "the core is pure, what it needs comes in as a value",
			Who:  core,
			What: effects(),
		},
		{
			Why:  "the core knows no cluster and no configuration, not even through others",
			Who:  core,
			What: []string{"k8s.io/client-go/...", "github.com/spf13/viper/..."},
			Deep: true,
		},
		{
			Why:  "files, programs and flags belong to internal/ and cmd/",
			Who:  []string{"./pkg/..."},
			What: []string{"os/...", "flag", "github.com/spf13/..."},
		},
		{
			Why:    "only internal/config imports viper, and makes a Config of it",
			Who:    []string{"./..."},
			Except: []string{"./internal/config"},
			What:   []string{"github.com/spf13/viper/..."},
		},
		{
			Why:    "only pkg/rules/expression imports expr",
			Who:    []string{"./..."},
			Except: []string{"./pkg/rules/expression/..."},
			What:   []string{"github.com/expr-lang/expr/..."},
		},
		{
			Why:    "only the schemas and the simulated clusters need the API server's code",
			Who:    []string{"./..."},
			Except: []string{"./pkg/simulate/...", "./pkg/rules/schema/...", "./test/virtual"},
			What:   []string{"k8s.io/apiserver/..."},
		},
		{
			Why:  "the loop is our own",
			Who:  []string{"./..."},
			What: []string{"sigs.k8s.io/controller-runtime/..."},
			Deep: true,
		},
		{
			Why:  "only tests import it",
			Who:  []string{"./cmd/...", "./internal/...", "./pkg/..."},
			What: []string{"testing/...", "github.com/google/go-cmp/...", "github.com/santhosh-tekuri/jsonschema/...", "k8s.io/client-go/openapi/openapitest/...", "github.com/rogpeppe/go-internal/...", "go.uber.org/goleak/...", "github.com/joshdk/go-junit/..."},
		},
	}
}

// OperatorBans are the rules over what the program of an image links, see "make operator". Each package that is linked has its
// variables made at the start, and the memory that this touches stays in use.
func OperatorBans() []Ban {
	return []Ban{
		{
			Why:  "run needs no simulated cluster",
			Who:  []string{"./cmd/dyncontroller"},
			What: []string{"./pkg/simulate/...", "k8s.io/apiserver/...", "go.etcd.io/...", "google.golang.org/grpc/...", "github.com/google/cel-go/..."},
			Deep: true,
		},
		{
			Why:  "the typed clients share one scheme of all that Kubernetes has, see pkg/client",
			Who:  []string{"./cmd/dyncontroller"},
			What: []string{"k8s.io/client-go/kubernetes/...", "k8s.io/client-go/informers/...", "k8s.io/client-go/discovery/...", "k8s.io/client-go/tools/leaderelection/...", "k8s.io/client-go/applyconfigurations/...", "github.com/google/gnostic-models/..."},
			Deep: true,
		},
	}
}
