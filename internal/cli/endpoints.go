package cli

import (
	"encoding/json"
	"net/http"
	"net/http/pprof"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// protection has a handler answer only who may get the path; it is nil where nobody may.
type protection func(path string, handler http.Handler) http.Handler

// byAddress serves the metrics to anybody, and the rest where only the same host or Pod can reach the address. A page in
// a browser there may be anybody's, whose name has been made to lead here: it asks for that name, and is refused.
func byAddress(address string) protection {
	return func(path string, handler http.Handler) http.Handler {
		if path == "/metrics" {
			return handler
		}
		if !telemetry.Loopback(address) {
			return nil
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !telemetry.Loopback(r.Host) {
				http.Error(w, "ask by the name localhost, or by the address, and with the port", http.StatusForbidden)
				return
			}
			handler.ServeHTTP(w, r)
		})
	}
}

func metricsHandler(protect protection, metrics, explain http.Handler, profiling bool) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern, path string, handler http.Handler) {
		if handler = protect(path, handler); handler != nil {
			mux.Handle("GET "+pattern, handler)
		}
	}
	handle("/metrics", "/metrics", metrics)
	handle("/explain", "/explain", explain)
	if profiling {
		for name, handler := range map[string]http.HandlerFunc{
			"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
		} {
			handle("/debug/pprof/"+name, "/debug/pprof", handler)
		}
	}
	return mux
}

// explainHandler tells what is remembered of one object, which version of a set object is in effect, or how sets are doing.
func explainHandler(of interface {
	Recorded(key engine.Key) trace.Memory
	Version(set source.Key) trace.Set
	Views(only *source.Key) []setstatus.View
},
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		answer := func(value any) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			// Whoever asked may have gone; there is nobody else to tell.
			_ = json.NewEncoder(w).Encode(value)
		}
		set := source.Key{Kind: asked.Get("kind"), Namespace: asked.Get("namespace"), Name: asked.Get("set")}
		switch {
		case asked.Has("sets"):
			answer(of.Views(nil))
			return
		case asked.Has("status"):
			answer(of.Views(&set))
			return
		case set.Name != "":
			answer(of.Version(set))
			return
		}
		key := engine.Key{
			GVR:       schema.GroupVersionResource{Group: asked.Get("group"), Version: asked.Get("version"), Resource: asked.Get("resource")},
			Namespace: asked.Get("namespace"), Name: asked.Get("name"),
		}
		if key.GVR.Version == "" || key.GVR.Resource == "" || key.Name == "" {
			http.Error(w, "version, resource and name must be given, as in "+
				"/explain?group=apps&version=v1&resource=deployments&namespace=shop&name=web", http.StatusBadRequest)
			return
		}
		answer(of.Recorded(key))
	})
}
