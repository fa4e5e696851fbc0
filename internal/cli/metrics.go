package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/doorkeeper"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// serveMetrics begins to serve the metrics, what is remembered of objects, and profiles.
func (s *service) serveMetrics(ctx context.Context, address string) (*telemetry.Server, error) {
	listen := s.settings.Listen
	if !listen.Secure {
		return telemetry.Serve(ctx, address, metricsHandler(address, s.metrics.Handler(), s.operator.Recorded, listen.Profiling))
	}
	keeper, err := doorkeeper.New(s.cluster.config, s.options.Clock, s.log)
	if err != nil {
		return nil, err
	}
	certificates := telemetry.SelfSigned(s.options.Clock)
	if listen.CertDir != "" {
		certificates = telemetry.CertificatesIn(listen.CertDir, s.log)
	}
	handler := secureHandler(keeper.Protect, s.metrics.Handler(), s.operator.Recorded, listen.Profiling)
	return telemetry.ServeTLS(ctx, address, handler, certificates, s.log)
}

// metricsHandler serves the metrics at an address to anybody, and the rest where only the
// same host or Pod can reach that.
func metricsHandler(address string, metrics http.Handler, recorded func(engine.Key) trace.Memory, profiling bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	if telemetry.Loopback(address) {
		private(mux, func(_ string, handler http.Handler) http.Handler { return onlyHere(handler) }, recorded, profiling)
	}
	return mux
}

// protection has a handler answer only who may get the path.
type protection func(path string, handler http.Handler) http.Handler

// secureHandler serves all of it, each to who is let in there.
func secureHandler(protect protection, metrics http.Handler, recorded func(engine.Key) trace.Memory, profiling bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", protect("/metrics", metrics))
	private(mux, protect, recorded, profiling)
	return mux
}

// private adds what is not for everybody who may read the metrics.
func private(mux *http.ServeMux, protect protection, recorded func(engine.Key) trace.Memory, profiling bool) {
	mux.Handle("GET /explain", protect("/explain", explainHandler(recorded)))
	if !profiling {
		return
	}
	for path, handler := range map[string]http.HandlerFunc{
		"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
	} {
		mux.Handle("GET /debug/pprof/"+path, protect("/debug/pprof", handler))
	}
}

// onlyHere answers programs of the same host. A page in a browser there may be anybody's,
// whose name has been made to lead here: it asks for that name, and is refused.
func onlyHere(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !telemetry.Loopback(r.Host) {
			http.Error(w, "ask by the name localhost, or by the address, and with the port", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// explainHandler tells what is remembered of one object.
func explainHandler(recorded func(engine.Key) trace.Memory) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		key := engine.Key{
			GVR:       schema.GroupVersionResource{Group: asked.Get("group"), Version: asked.Get("version"), Resource: asked.Get("resource")},
			Namespace: asked.Get("namespace"), Name: asked.Get("name"),
		}
		if key.GVR.Version == "" || key.GVR.Resource == "" || key.Name == "" {
			http.Error(w, "version, resource and name must be given, as in "+
				"/explain?group=apps&version=v1&resource=deployments&namespace=shop&name=web", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		// Whoever asked may have gone; there is nobody else to tell.
		_ = json.NewEncoder(w).Encode(recorded(key))
	})
}
