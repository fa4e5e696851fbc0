package write_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// answering is an API server that gives the same answer to every request, from memory.
type answering struct{ body []byte }

func (a answering) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}, nil
}

// ofSize is an object of so many bytes at least, as the API server answers.
func ofSize(size int) []byte {
	var fields strings.Builder
	for i := 0; fields.Len() < size; i++ {
		fmt.Fprintf(&fields, `,"field%d":{"name":"a name","values":["one","two"],"count":%d}`, i, i)
	}
	return []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"8",` +
		`"labels":{"seen":"yes"}},"spec":{"size":1` + fields.String() + `}}`)
}

// BenchmarkPatch is one label that is written, from the operation to its answer, without a network.
func BenchmarkPatch(b *testing.B) {
	operation := plan.Operation{
		Type: plan.Merge, Target: target, Manager: plan.FieldManager,
		Body: map[string]any{"metadata": map[string]any{"labels": map[string]any{"seen": "yes"}}},
	}
	kept := projection.New()
	for name, tc := range map[string]struct {
		size int
		keep *projection.Fields
	}{
		"3KB/whole": {3 << 10, nil}, "3KB/kept": {3 << 10, kept}, "50KB/whole": {50 << 10, nil}, "50KB/kept": {50 << 10, kept},
	} {
		b.Run(name, func(b *testing.B) {
			client, err := write.NewClient(&rest.Config{Host: "http://localhost", QPS: -1, Transport: answering{ofSize(tc.size)}})
			if err != nil {
				b.Fatal(err)
			}
			ctx := live.Keeping(b.Context(), tc.keep)
			b.ReportAllocs()
			for b.Loop() {
				if result := client.Write(ctx, operation); result.Class != write.Written {
					b.Fatal(result.Err)
				}
			}
		})
	}
}
