package client_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// large is an object of 3 KB, in fields of 40 bytes.
func large(i int) string {
	var fields strings.Builder
	for j := range 60 {
		fmt.Fprintf(&fields, `"field-%02d":{"value":"%010d","count":%d},`, j, i*j, j)
	}
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"thing-%05d","namespace":"default",`+
		`"resourceVersion":"%d","uid":"8f14e45f-ceea-467f-a%03d-%012d","creationTimestamp":"2026-11-01T08:00:00Z","labels":{"env":"prod"}},`+
		`"spec":{%s"pd":{"replicas":3}},"status":{"pd":{"phase":"Normal"}}}`, i, 1000+i, i%1000, i, fields.String())
}

// processorTime is what the process has used. Beside other processes it says more than the clock.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// frames gives so many frames of a watch, over and over the same.
type frames struct {
	all  [][]byte
	left int
	rest []byte
}

func (f *frames) Read(into []byte) (int, error) {
	if len(f.rest) == 0 {
		if f.left == 0 {
			return 0, io.EOF
		}
		f.left--
		f.rest = f.all[f.left%len(f.all)]
	}
	n := copy(into, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// BenchmarkWatch is the way of an event from the bytes to who watches, an op each.
func BenchmarkWatch(b *testing.B) {
	featurestesting.SetFeatureDuringTest(b, features.ClientsAllowCBOR, true)
	var asJSON, asCBOR [][]byte
	encoder := cbor.NewSerializer(nil, nil)
	for i := range 1000 {
		asJSON = append(asJSON, []byte(line("MODIFIED", large(i))))
		var object, event bytes.Buffer
		content, err := (*projection.Fields)(nil).Decode([]byte(large(i)))
		if err != nil {
			b.Fatal(err)
		}
		if err := encoder.Encode(&unstructured.Unstructured{Object: content}, &object); err != nil {
			b.Fatal(err)
		}
		if err := encoder.Encode(&metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: object.Bytes()}}, &event); err != nil {
			b.Fatal(err)
		}
		asCBOR = append(asCBOR, event.Bytes())
	}
	run := func(name, contentType string, all [][]byte, client func(answer) dynamic.ResourceInterface) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			in := answer{200, contentType, func() io.Reader { return &frames{all: all, left: b.N} }}
			w, err := client(in).Watch(b.Context(), metav1.ListOptions{})
			if err != nil {
				b.Fatal(err)
			}
			before := processorTime()
			b.ResetTimer()
			for i := range b.N {
				if event := <-w.ResultChan(); event.Type != watch.Modified {
					b.Fatalf("event %d is %v", i, event)
				}
			}
			b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
		})
	}
	stock := func(a answer) dynamic.ResourceInterface { stock, _ := clients(b, a, nil); return stock }
	run("fields", "application/json", asJSON, func(a answer) dynamic.ResourceInterface {
		_, ours := clients(b, a, keeping("metadata.labels.env", "spec.pd.replicas", "status.pd.phase"))
		return ours
	})
	run("whole", "application/json", asJSON, func(a answer) dynamic.ResourceInterface { _, ours := clients(b, a, nil); return ours })
	run("client-go", "application/json", asJSON, stock)
	run("client-go with CBOR", "application/cbor-seq", asCBOR, stock)
}
