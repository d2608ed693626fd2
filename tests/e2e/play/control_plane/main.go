// A control plane for tests: etcd, kube-apiserver and the controllers of kube-controller-manager, in one binary.
package main

import (
	"fmt"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func etcd(folder, client, peer string) {
	c := embed.NewConfig()
	c.Dir = folder
	u, _ := url.Parse(client)
	p, _ := url.Parse(peer)
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*u}, []url.URL{*u}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*p}, []url.URL{*p}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.LogLevel = "error"
	e, err := embed.StartEtcd(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	<-e.Server.ReadyNotify()
	fmt.Println("ready")
	panic(<-e.Err())
}

func main() {
	what := os.Args[1]
	os.Args = append([]string{what}, os.Args[2:]...)
	switch what {
	case "etcd":
		etcd(os.Args[1], os.Args[2], os.Args[3])
	case "apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	}
}
