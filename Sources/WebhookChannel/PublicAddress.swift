package import Curl

/// Which addresses belong to the public internet.
///
/// Everything that leads back into a machine, a house or a data centre is left out: a webhook address comes
/// from a config or a person, and must not become a way to knock on doors behind the firewall.
package enum PublicAddress {
    /// Whether `address` is public; a mapped one is judged as the version 4 address inside it.
    package static func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return !networks.contains { $0.contains(address) }
    }

    /// What is not public.
    ///
    /// - Source: IANA's special-purpose address registries for both versions; the union of what
    ///   Smokescreen and Svix refuse.
    private static let networks: [Network] = [
        "0.0.0.0/8",  // this host
        "10.0.0.0/8",  // private
        "100.64.0.0/10",  // carriers' own
        "127.0.0.0/8",  // loopback
        "169.254.0.0/16",  // link-local, where clouds keep their metadata
        "172.16.0.0/12",  // private
        "192.0.0.0/24",  // protocol assignments
        "192.0.2.0/24",  // documentation
        "192.88.99.0/24",  // 6to4 relays
        "192.168.0.0/16",  // private
        "198.18.0.0/15",  // benchmarks
        "198.51.100.0/24",  // documentation
        "203.0.113.0/24",  // documentation
        "224.0.0.0/4",  // multicast
        "240.0.0.0/4",  // reserved, and broadcast
        "::/128",  // unspecified
        "::1/128",  // loopback
        "::/96",  // version 4 inside version 6, the old way
        "64:ff9b::/96",  // version 4 behind a translator
        "64:ff9b:1::/48",  // the same, locally
        "100::/64",  // discard
        "2001::/32",  // Teredo
        "2001:db8::/32",  // documentation
        "2002::/16",  // 6to4
        "3fff::/20",  // documentation
        "5f00::/16",  // segment routing
        "fc00::/7",  // private
        "fe80::/10",  // link-local
        "fec0::/10",  // site-local, withdrawn
        "ff00::/8",  // multicast
    ].compactMap { Network($0) }
}
