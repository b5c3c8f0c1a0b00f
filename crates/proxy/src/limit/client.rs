//! The key under which requests count as one client.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::net::IpAddr;
use std::sync::LazyLock;

use ipnet::IpNet;

/// The key of a limit, and the network that is used when there is no room left.
#[derive(Clone, Copy, Debug)]
pub struct ClientKey {
    pub(super) who: Who,
    pub(super) network: Network,
}

impl ClientKey {
    /// The network of an address as one client: /16 in IPv4, /48 in IPv6.
    #[must_use]
    pub fn network(address: IpAddr) -> Self {
        let network = Network::of(address);
        Self {
            who: Who::Network(network),
            network,
        }
    }

    /// The network of an address by prefixes of the caller's, under a name: counted apart from the same network elsewhere.
    #[must_use]
    pub fn within(name: &impl Hash, address: IpAddr, prefixes: Prefixes) -> Self {
        Self::named(&(name, prefixes.network(address)), address)
    }

    /// A client with another name, such as a ticket's number: the same from every address.
    #[must_use]
    pub fn named(name: &impl Hash, address: IpAddr) -> Self {
        static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        Self {
            who: Who::Named(HASHER.hash_one(name)),
            network: Network::of(address),
        }
    }
}

impl From<IpAddr> for ClientKey {
    /// One IPv4 address, or one /64 of IPv6, which is one household's; IPv4 written as IPv6 is IPv4.
    fn from(address: IpAddr) -> Self {
        let who = match address.to_canonical() {
            IpAddr::V4(v4) => Who::V4(v4.to_bits()),
            IpAddr::V6(v6) => Who::V6(prefix(v6.to_bits(), 64)),
        };
        Self {
            who,
            network: Network::of(address),
        }
    }
}

/// How many leading bits of an address name its network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefixes {
    /// Up to 32.
    pub ipv4: u8,
    /// Up to 128.
    pub ipv6: u8,
}

impl Prefixes {
    /// The network of an address; IPv4 written as IPv6 is IPv4.
    #[must_use]
    pub fn network(self, address: IpAddr) -> IpNet {
        let address = address.to_canonical();
        let (bits, most) = match address {
            IpAddr::V4(_) => (self.ipv4, 32),
            IpAddr::V6(_) => (self.ipv6, 128),
        };
        IpNet::new(address, bits.min(most)).map_or_else(|_| address.into(), |network| network.trunc())
    }
}

/// Two keys are equal if they are one client, from any network.
impl PartialEq for ClientKey {
    fn eq(&self, other: &Self) -> bool {
        self.who == other.who
    }
}

impl Eq for ClientKey {}

impl Hash for ClientKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.who.hash(state);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Who {
    V4(u32),
    /// The /64.
    V6(u64),
    Network(Network),
    Named(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Network {
    /// The /16.
    V4(u16),
    /// The /48.
    V6(u64),
}

impl Network {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => {
                let [a, b, ..] = v4.octets();
                Self::V4(u16::from_be_bytes([a, b]))
            }
            IpAddr::V6(v6) => Self::V6(prefix(v6.to_bits(), 48)),
        }
    }
}

/// The first `length` bits of an address, at most 64, as a number.
fn prefix(bits: u128, length: u32) -> u64 {
    u64::try_from(bits >> (128 - length)).expect("at most 64 bits are left")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn key(text: &str) -> ClientKey {
        ClientKey::from(address(text))
    }

    #[test]
    fn ipv4_counts_by_address_and_falls_back_to_its_16() {
        assert_eq!(key("192.0.2.1"), key("::ffff:192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
        assert_eq!(key("192.0.2.1").network, key("192.0.255.9").network);
        assert_ne!(key("192.0.2.1").network, key("192.1.2.1").network);
        assert_eq!(
            ClientKey::network(address("192.0.2.1")),
            ClientKey::network(address("::ffff:192.0.9.9"))
        );
    }

    #[test]
    fn ipv6_counts_by_64_and_falls_back_to_its_48() {
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("2001:db8:1:2::1").network, key("2001:db8:1:3::1").network);
        assert_ne!(key("2001:db8:1:2::1").network, key("2001:db8:2:2::1").network);
        assert_ne!(key("::1"), key("0.0.0.1"));
    }

    #[test]
    fn a_network_is_as_wide_as_its_prefix_and_counts_apart_under_each_name() {
        let prefixes = Prefixes { ipv4: 24, ipv6: 40 };
        let key = |name: &str, text: &str| ClientKey::within(&name, address(text), prefixes);
        assert_eq!(key("a", "192.0.2.1"), key("a", "::ffff:192.0.2.254"));
        assert_ne!(key("a", "192.0.2.1"), key("a", "192.0.3.1"));
        assert_ne!(key("a", "192.0.2.1"), key("b", "192.0.2.1"));
        assert_eq!(key("a", "2001:db8::1"), key("a", "2001:db8:ff:2::1"));
        assert_ne!(key("a", "2001:db8::1"), key("a", "2001:db8:100::1"));
        let whole = Prefixes { ipv4: 99, ipv6: 0 };
        assert_eq!(whole.network(address("192.0.2.1")), "192.0.2.1/32".parse().unwrap());
        assert_eq!(whole.network(address("2001:db8::1")), "::/0".parse().unwrap());
    }

    #[test]
    fn a_named_client_is_one_wherever_it_comes_from() {
        let (here, there) = (address("192.0.2.1"), address("2001:db8::1"));
        assert_eq!(
            ClientKey::named(&("shop", 41), here),
            ClientKey::named(&("shop", 41), there)
        );
        assert_ne!(
            ClientKey::named(&("shop", 41), here),
            ClientKey::named(&("shop", 42), here)
        );
        assert_ne!(ClientKey::named(&1, here), key("0.0.0.1"));
    }
}
