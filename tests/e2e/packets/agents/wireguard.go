// A device in one process: it opens the tunnel that CONF describes, and asks each URL a question through it.
// `udp://HOST:PORT` sends one datagram, `raw://HOST:PORT` says what no HTTP client would and prints what comes.
// Usage: agent CONF CA URL...
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/device"
	"golang.zx2c4.com/wireguard/tun/netstack"
)

func main() {
	values := map[string]string{}
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, found := strings.Cut(lines.Text(), "=")
		if found {
			values[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	addresses := []netip.Addr{}
	for _, one := range strings.Split(values["Address"], ",") {
		addresses = append(addresses, netip.MustParsePrefix(strings.TrimSpace(one)).Addr())
	}
	tun, network, err := netstack.CreateNetTUN(addresses, []netip.Addr{netip.MustParseAddr(values["DNS"])}, 1420)
	if err != nil {
		panic(err)
	}
	dev := device.NewDevice(tun, conn.NewDefaultBind(), device.NewLogger(device.LogLevelError, ""))
	set := "private_key=" + asHex(values["PrivateKey"]) + "\npublic_key=" + asHex(values["PublicKey"]) +
		"\nendpoint=" + values["Endpoint"] + "\nallowed_ip=0.0.0.0/0\nallowed_ip=::/0\n"
	if err := dev.IpcSet(set); err != nil {
		panic(err)
	}
	if err := dev.Up(); err != nil {
		panic(err)
	}
	pem, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := http.Client{Timeout: 8 * time.Second, Transport: &http.Transport{
		DialContext:       network.DialContext,
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true,
	}}
	for _, url := range os.Args[3:] {
		if place, found := strings.CutPrefix(url, "udp://"); found {
			to, err := network.DialContext(context.Background(), "udp", place)
			if err == nil {
				_, err = to.Write([]byte("anything"))
			}
			fmt.Println("udp", err)
			continue
		}
		if place, found := strings.CutPrefix(url, "raw://"); found {
			fmt.Println("raw", raw(network, place))
			continue
		}
		url, streamed := strings.CutSuffix(url, "#stream")
		body := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}`
		if streamed {
			body = strings.Replace(body, "{", `{"stream":true,`, 1)
		}
		request, _ := http.NewRequest("POST", url, strings.NewReader(body))
		request.Header.Set("authorization", "Bearer any")
		request.Header.Set("content-type", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			fmt.Println("failed", err)
			continue
		}
		text, err := io.ReadAll(answer.Body)
		fmt.Println(answer.StatusCode, answer.Proto, len(text), err)
	}
}

func raw(network *netstack.Net, place string) string {
	to, err := network.DialContext(context.Background(), "tcp", place)
	if err != nil {
		return err.Error()
	}
	defer to.Close()
	to.SetDeadline(time.Now().Add(20 * time.Second))
	to.Write([]byte("SSH-2.0-any\r\n"))
	text, err := io.ReadAll(to)
	return fmt.Sprint(string(text), " ", err)
}

func asHex(key string) string {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		panic(err)
	}
	return hex.EncodeToString(raw)
}
