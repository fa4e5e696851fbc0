package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func endpoints() example {
	return example{
		name: "endpoints", controllers: "endpoints-controller", kinds: []string{"services", "endpoints", "pods"},
		quiet: 1500 * time.Millisecond, kind: "services", child: "endpoints",
		parent: func() object { return newService(parentName, nil) },
		columns: []column{
			{"which", each("endpoints", "metadata.name")},
			{"addresses", subsets("addresses")},
			{"notReady- Addresses", subsets("notReadyAddresses")},
			{"ports", subsets("ports")},
			{"order of addresses", inOrder},
			{"labels", each("endpoints", "metadata.name", "metadata.labels")},
			{"annotations", each("endpoints", "metadata.name", "metadata.annotations")},
			{"owners, finalizers", each("endpoints", "metadata.name", "metadata.ownerReferences", "metadata.finalizers")},
			{"Services, Pods", func(v view) any {
				return list{each("services", "metadata", "spec")(v), each("pods", "metadata", "spec", "status")(v)}
			}},
		},
		themes: endpointsThemes(),
		moves: []func(*script){
			morePods, unreadyPod, relabelPod, deletePod, moveIP, relabelService, repointService, portService, failedPod, annotatePod,
		},
	}
}

// subsets has a field of the subsets of all Endpoints, each element with the other fields that it belongs to, in any order.
func subsets(of string) func(view) any {
	return func(v view) any {
		out := list{}
		for _, endpoints := range v["endpoints"] {
			all, _ := endpoints["subsets"].(list)
			for _, one := range all {
				subset, _ := one.(object)
				elements, _ := subset[of].(list)
				for _, element := range elements {
					out = append(out, object{"endpoints": at(endpoints, "metadata.name"), of: element, "with": text(subset["ports"])})
				}
			}
		}
		return sorted(out)
	}
}

// inOrder has the subsets in any order, which changes from run to run, and what is in them in its order.
func inOrder(v view) any {
	out := list{}
	for _, endpoints := range v["endpoints"] {
		all, _ := endpoints["subsets"].(list)
		out = append(out, object{"endpoints": at(endpoints, "metadata.name"), "subsets": sorted(slices.Clone(all))})
	}
	return sorted(out)
}

func newService(name string, change func(spec object)) object {
	spec := object{"selector": object{"app": parentName}, "ports": list{object{"port": 80, "targetPort": 8080}}}
	if change != nil {
		change(spec)
	}
	return object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": name, "labels": object{"of": name}}, "spec": spec}
}

func (s *script) createService(say string, change func(spec object)) {
	s.step(func(p *place) { p.create("services", newService(parentName, change)) }, "create Service%s", say)
}

func (s *script) patchService(say string, body object) {
	s.step(func(p *place) { p.patch("services", parentName, body) }, "%s", say)
}

func podName(i int) string { return fmt.Sprintf("p-%d", i) }

// createPods makes some more Pods with IPs; the last one is not ready.
func (s *script) createPods(n int, change func(i int, spec object)) {
	first := s.size
	s.size += n
	s.step(func(p *place) {
		for i := first; i < first+n; i++ {
			pod := lone(podName(i), object{"app": parentName}, "Always")
			port := 8080 + i%2
			spec := object{"containers": list{object{"name": "main", "image": "app", "ports": list{
				object{"name": "http", "containerPort": port}, object{"name": "dns", "containerPort": 53, "protocol": "UDP"},
			}}}}
			if change != nil {
				change(i, spec)
			}
			pod["spec"] = spec
			p.create("pods", pod)
			p.ready(i, i < first+n-1 || n == 1)
		}
	}, "create %d Pods", n)
}

// ready has a Pod run, with the IPs of its number.
func (p *place) ready(i int, ready bool, ips ...string) {
	p.status(i, state{ready: ready, ips: cmp.Or(strings.Join(ips, ","), ipOf(i))})
}

func ipOf(i int) string { return fmt.Sprintf("10.1.0.%d", 100-i) }

// status is left alone of a Pod that is gone.
func (p *place) status(i int, is state) {
	if pod := p.get("pods", podName(i)); pod != nil {
		p.report(pod, fmt.Sprintf("node-%d", i%3), is)
	}
}

// any of the Pods is what a move is about.
func (s *script) any() int { return s.IntN(max(s.size, 1)) }

func morePods(s *script) { s.createPods(1+s.IntN(2), nil) }

func unreadyPod(s *script) {
	i := s.any()
	ready := s.IntN(2) == 0
	s.step(func(p *place) { p.ready(i, ready) }, "p-%d ready: %t", i, ready)
}

func (s *script) patchPod(i int, say string, body object) {
	s.step(func(p *place) {
		if p.get("pods", podName(i)) != nil {
			p.patch("pods", podName(i), body)
		}
	}, "%s p-%d", say, i)
}

func relabelPod(s *script) {
	s.patchPod(s.any(), "relabel", object{"metadata": object{"labels": object{"app": "other"}}})
}

func annotatePod(s *script) {
	s.patchPod(s.any(), "annotate", object{"metadata": object{"annotations": object{"a": "b"}}})
}

func deletePod(s *script) {
	i := s.any()
	s.step(func(p *place) { p.delete("pods", podName(i), metav1.DeleteOptions{}) }, "delete p-%d", i)
	finishing(s)
}

func moveIP(s *script) {
	i := s.any()
	s.step(func(p *place) { p.ready(i, true, fmt.Sprintf("10.1.1.%d", i)) }, "p-%d has another IP", i)
}

func failedPod(s *script) {
	i := s.any()
	s.step(func(p *place) { p.status(i, state{phase: "Failed", ips: ipOf(i)}) }, "p-%d fails", i)
}

func relabelService(s *script) {
	s.patchService("relabel Service", object{"metadata": object{"labels": object{"of": nil, "new": "yes"}, "annotations": object{"a": "b"}}})
}

func repointService(s *script) {
	s.patchService("select others", object{"spec": object{"selector": object{"app": "other"}}})
	s.patchService("select as before", object{"spec": object{"selector": object{"app": parentName}}})
}

func portService(s *script) {
	s.patchService("another port", object{"spec": object{"ports": list{object{"name": "web", "port": 81, "targetPort": "http"}}}})
}

// manual are Endpoints that a user makes.
func manual(p *place) {
	p.create("endpoints", object{
		"apiVersion": "v1", "kind": "Endpoints", "metadata": object{"name": parentName},
		"subsets": list{object{"addresses": list{object{"ip": "10.9.9.9"}}, "ports": list{object{"port": 1}}}},
	})
}

// with is a change of a field of a spec.
func with(field string, value any) func(object) { return func(spec object) { spec[field] = value } }

func plainService(s *script) { s.createService("", nil); s.createPods(3, nil) }

func endpointsThemes() []func(*script) {
	named := with("ports", list{object{"port": 80, "targetPort": "http"}})
	return []func(*script){
		plainService,
		func(s *script) { s.createPods(4, nil); s.createService("", nil) },
		func(s *script) { s.createPods(4, nil); s.createService(" with a named port", named) },
		func(s *script) {
			s.createPods(4, nil)
			s.createService(" with 2 ports", with("ports", list{
				object{"name": "a", "port": 80, "targetPort": "http"}, object{"name": "b", "port": 90, "targetPort": 9090},
			}))
		},
		func(s *script) {
			s.createPods(3, nil)
			s.createService(" with UDP and TCP", with("ports", list{
				object{"name": "udp", "port": 53, "protocol": "UDP", "targetPort": "dns"}, object{"name": "tcp", "port": 53, "protocol": "TCP"},
			}))
		},
		func(s *script) { s.createService(", headless", with("clusterIP", "None")); s.createPods(2, nil) },
		func(s *script) {
			s.createService(", headless, no ports", func(spec object) { spec["clusterIP"], spec["ports"] = "None", nil })
			s.createPods(3, nil)
		},
		func(s *script) {
			s.createService(" without selector", with("selector", nil))
			s.step(manual, "Endpoints of a user")
			s.createPods(1, nil)
		},
		func(s *script) {
			s.createService(", ExternalName", func(spec object) {
				spec["type"], spec["externalName"], spec["ports"] = "ExternalName", "example.com", nil
			})
			s.createPods(1, nil)
		},
		func(s *script) {
			s.createService(", publishNotReadyAddresses", with("publishNotReadyAddresses", true))
			s.createPods(3, nil)
			s.step(func(p *place) { p.delete("pods", podName(0), metav1.DeleteOptions{}) }, "p-0 terminates")
		},
		func(s *script) {
			s.createPods(3, func(i int, spec object) {
				spec["hostname"], spec["subdomain"] = podName(i), []string{parentName, "elsewhere"}[i%2]
			})
			s.createService(", headless, of hostnames", with("clusterIP", "None"))
		},
		func(s *script) {
			s.createPods(3, nil)
			s.step(func(p *place) {
				p.ready(0, true, "fd00::1", "10.1.2.1")
				p.ready(1, true, "10.1.2.2", "fd00::2")
				p.ready(2, true, "fd00::3")
			}, "IPv6 addresses")
			s.createService("", nil)
		},
		func(s *script) {
			plainService(s)
			s.step(func(p *place) { p.delete("pods", podName(1), metav1.DeleteOptions{}) }, "p-1 terminates")
		},
		func(s *script) {
			plainService(s)
			s.step(func(p *place) {
				p.status(0, state{phase: "Succeeded", ips: ipOf(0)})
				p.status(1, state{phase: "Pending"})
			}, "one Succeeded, one pending")
		},
		func(s *script) {
			s.createPods(3, nil)
			s.createService(" with a named port", named)
			s.step(func(p *place) {
				for i := range 3 {
					p.ready(i, i > 0, "10.1.7.7")
				}
			}, "all have one IP")
		},
		func(s *script) {
			s.createService("", nil)
			second := newService("second", with("ports", list{object{"port": 1, "targetPort": "dns", "protocol": "UDP"}}))
			s.step(func(p *place) { p.create("services", second) }, "and a second one")
			s.createPods(3, nil)
		},
		func(s *script) {
			plainService(s)
			s.step(func(p *place) { p.delete("services", parentName, metav1.DeleteOptions{}) }, "delete Service")
			s.createService(" again", nil)
		},
		func(s *script) {
			plainService(s)
			s.step(func(p *place) { p.delete("endpoints", parentName, metav1.DeleteOptions{}) }, "delete Endpoints")
		},
		func(s *script) {
			plainService(s)
			s.step(func(p *place) {
				p.patch("endpoints", parentName, object{"subsets": nil, "metadata": object{"labels": object{"by": "hand"}, "annotations": object{"by": "hand"}}})
				p.patch("services", parentName, object{"metadata": object{"labels": object{"new": "yes"}}})
			}, "edit Endpoints, relabel Service")
		},
		func(s *script) {
			plainService(s)
			s.patchService("no selector any more", object{"spec": object{"selector": nil}})
			deletePod(s)
			s.over = true
		},
		func(s *script) {
			s.createService(" with appProtocol", with("ports", list{object{"port": 80, "targetPort": 8080, "appProtocol": "kubernetes.io/h2c"}}))
			s.createPods(3, nil)
		},
		func(s *script) {
			s.createPods(2, nil)
			s.createService(" with a port that no Pod has", with("ports", list{
				object{"name": "a", "port": 80, "targetPort": "nope"}, object{"name": "b", "port": 81, "targetPort": "dns", "protocol": "UDP"},
			}))
		},
	}
}
