//! The byte forms of what all types are made of: integers, texts, lists, and the ids.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::{Codec, Part, Read, Reader, Writer, codec};
use ropeline_ids::{
    Clock, CodeId, Edition, Epoch, GateId, Hash, LaneId, LineName, Number, PendingId, Place, Position, RehearsalId,
    RoomName, Tag, Wall,
};

impl Codec for u8 {
    fn write(&self, w: &mut Writer) {
        w.u8(*self);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        r.u8()
    }
}

impl Codec for bool {
    fn write(&self, w: &mut Writer) {
        w.u8(u8::from(*self));
    }

    fn read(r: &mut Reader) -> Read<Self> {
        match r.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => r.wrong(),
        }
    }
}

macro_rules! integers {
    ($($integer:ident)+) => {$(
        impl Codec for $integer {
            fn write(&self, w: &mut Writer) {
                w.var(u64::from(*self));
            }

            fn read(r: &mut Reader) -> Read<Self> {
                let value = r.var()?;
                Self::try_from(value).or_else(|_| r.wrong())
            }
        }
    )+};
}
integers!(u16 u32 u64);

impl<const N: usize> Codec for [u8; N] {
    fn write(&self, w: &mut Writer) {
        w.raw(self);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(r.raw(N)?);
        Ok(bytes)
    }
}

impl Codec for String {
    fn write(&self, w: &mut Writer) {
        w.text(self);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        r.text().map(str::to_owned)
    }
}

macro_rules! names {
    ($($name:ident)+) => {$(
        impl Codec for $name {
            fn write(&self, w: &mut Writer) {
                w.text(self.as_str());
            }

            fn read(r: &mut Reader) -> Read<Self> {
                let name = r.text()?;
                Self::new(name).map_or_else(|| r.wrong(), Ok)
            }
        }
    )+};
}
names!(RoomName LineName);

impl<T: Codec> Codec for Option<T> {
    fn write(&self, w: &mut Writer) {
        w.put(&self.is_some());
        if let Some(value) = self {
            w.put(value);
        }
    }

    fn read(r: &mut Reader) -> Read<Self> {
        if r.get()? { r.get().map(Some) } else { Ok(None) }
    }
}

impl Part for bool {
    fn is_there(&self) -> bool {
        *self
    }

    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader, there: bool) -> Read<Self> {
        Ok(there)
    }
}

impl<T: Codec> Part for Option<T> {
    fn is_there(&self) -> bool {
        self.is_some()
    }

    fn write(&self, w: &mut Writer) {
        if let Some(value) = self {
            w.put(value);
        }
    }

    fn read(r: &mut Reader, there: bool) -> Read<Self> {
        if there { r.get().map(Some) } else { Ok(None) }
    }
}

macro_rules! pointers {
    ($($pointer:ident)+) => {$(
        impl<T: Codec> Codec for $pointer<T> {
            fn write(&self, w: &mut Writer) {
                T::write(self, w);
            }

            fn read(r: &mut Reader) -> Read<Self> {
                r.get().map(Self::new)
            }
        }
    )+};
}
pointers!(Box Arc);

macro_rules! lists {
    ($($list:ident)+) => {$(
        impl<T: Codec> Codec for $list<T> {
            fn write(&self, w: &mut Writer) {
                w.list(self.iter(), Writer::put);
            }

            fn read(r: &mut Reader) -> Read<Self> {
                r.list(Reader::get).map(Self::from)
            }
        }
    )+};
}
lists!(Vec VecDeque);

/// By rising keys.
impl<K: Codec + Ord, V: Codec> Codec for BTreeMap<K, V> {
    fn write(&self, w: &mut Writer) {
        w.list(self.iter(), |w, (key, value)| {
            w.put(key);
            w.put(value);
        });
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let items: Vec<(K, V)> = r.get()?;
        if !items.is_sorted_by(|(a, _), (b, _)| a < b) {
            return r.wrong();
        }
        Ok(items.into_iter().collect())
    }
}

impl<T: Codec + Ord> Codec for BTreeSet<T> {
    fn write(&self, w: &mut Writer) {
        w.list(self.iter(), Writer::put);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let items: Vec<T> = r.get()?;
        if !items.is_sorted_by(|a, b| a < b) {
            return r.wrong();
        }
        Ok(items.into_iter().collect())
    }
}

macro_rules! tuples {
    ($(($($item:ident)+))+) => {$(
        #[expect(non_snake_case, reason = "an item is named for its type")]
        impl<$($item: Codec),+> Codec for ($($item,)+) {
            fn write(&self, w: &mut Writer) {
                let ($($item,)+) = self;
                $(w.put($item);)+
            }

            fn read(r: &mut Reader) -> Read<Self> {
                Ok(($(r.get::<$item>()?,)+))
            }
        }
    )+};
}
tuples!((A B) (A B C));

impl Codec for Clock {
    fn write(&self, w: &mut Writer) {
        w.clock(self.0);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        r.get().map(Self)
    }
}

impl Codec for Wall {
    fn write(&self, w: &mut Writer) {
        w.date(self.0);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        r.get().map(Self)
    }
}

codec! {
    struct Epoch(epoch);
    struct Edition(edition);
    struct Place(place);
    struct LaneId(lane);
    struct GateId(gate);
    struct PendingId(id);
    struct CodeId(id);
    struct RehearsalId(id);
    struct Tag(tag);
    struct Hash(hash);
    struct Number { epoch, n };
    struct Position { epoch, sequence };
}
