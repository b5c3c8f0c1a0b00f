//! The declaration of a byte form: one list of fields for both directions.

/// Declares byte forms.
///
/// - `struct Name { a, b };` is written as its fields in this order, `struct Name(a);` as those of a tuple.
/// - `enum Name { 0 => A, 1 => B(a), 2 => C { b } };` is written as a tag and the fields of the variant.
/// - `sparse { c, d }` behind a struct's fields has those that mostly have their default. One integer says which have not, and only
///   these follow.
/// - `parts { c, d }` instead has flags and options. One integer says which are there, and what an option holds follows: of a
///   single one, the bytes of a field.
/// - `derived { e }` has fields that are not written, and are read as their default.
/// - `where method` refuses what was read if `method(&self) -> bool` is false.
/// - `then method` gives what was read to `method(self) -> Self`, which works out what is derived.
/// - `a as module` is written by `module::write` and read by `module::read`.
macro_rules! codec {
    () => {};
    (struct $name:ident $({ $($field:ident $(as $with:ident)?),+ $(,)? })?
        $(sparse { $($part:ident $(as $part_with:ident)?),+ $(,)? })?
        $(parts { $($optional:ident),+ $(,)? })?
        $(derived { $($derived:ident),+ })?
        $(where $check:ident)? $(then $derive:ident)?;
        $($rest:tt)*
    ) => {
        impl $crate::codec::Codec for $name {
            fn write(&self, w: &mut $crate::codec::Writer) {
                $($($crate::codec::codec!(@write w, &self.$field $(, $with)?);)+)?
                $(
                    let there = [$($crate::codec::is_there(&self.$part)),+];
                    w.parts(&there);
                    let mut there = there.into_iter();
                    $(if there.next() == Some(true) {
                        $crate::codec::codec!(@write w, &self.$part $(, $part_with)?);
                    })+
                )?
                $(
                    w.parts(&[$($crate::codec::Part::is_there(&self.$optional)),+]);
                    $($crate::codec::Part::write(&self.$optional, w);)+
                )?
            }

            fn read(r: &mut $crate::codec::Reader) -> $crate::codec::Read<Self> {
                $($(let $field = $crate::codec::codec!(@read r $(, $with)?);)+)?
                $(
                    let mut there = r.parts([$(stringify!($part)),+].len())?;
                    $(let $part = r.part(there.next(), |r| Ok($crate::codec::codec!(@read r $(, $part_with)?)))?;)+
                )?
                $(
                    let mut there = r.parts([$(stringify!($optional)),+].len())?;
                    $(let $optional = $crate::codec::Part::read(r, there.next() == Some(true))?;)+
                )?
                let value = Self {
                    $($($field,)+)? $($($part,)+)? $($($optional,)+)? $($($derived: Default::default(),)+)?
                };
                $(if !value.$check() {
                    return r.wrong();
                })?
                $(let value = value.$derive();)?
                Ok(value)
            }
        }
        $crate::codec::codec! { $($rest)* }
    };
    (struct $name:ident($($item:ident),+) $(where $check:ident)?; $($rest:tt)*) => {
        impl $crate::codec::Codec for $name {
            fn write(&self, w: &mut $crate::codec::Writer) {
                let Self($($item),+) = self;
                $(w.put($item);)+
            }

            fn read(r: &mut $crate::codec::Reader) -> $crate::codec::Read<Self> {
                $(let $item = r.get()?;)+
                let value = Self($($item),+);
                $(if !value.$check() {
                    return r.wrong();
                })?
                Ok(value)
            }
        }
        $crate::codec::codec! { $($rest)* }
    };
    (enum $name:ident {
        $($tag:literal => $variant:ident $(($($item:ident),+))? $({ $($field:ident),+ })?),+ $(,)?
    }; $($rest:tt)*) => {
        impl $crate::codec::Codec for $name {
            fn write(&self, w: &mut $crate::codec::Writer) {
                match self {
                    $(Self::$variant $(($($item),+))? $({ $($field),+ })? => {
                        w.u8($tag);
                        $($(w.put($item);)+)?
                        $($(w.put($field);)+)?
                    })+
                }
            }

            fn read(r: &mut $crate::codec::Reader) -> $crate::codec::Read<Self> {
                Ok(match r.u8()? {
                    $($tag => {
                        $($(let $item = r.get()?;)+)?
                        $($(let $field = r.get()?;)+)?
                        Self::$variant $(($($item),+))? $({ $($field),+ })?
                    })+
                    _ => return r.wrong(),
                })
            }
        }
        $crate::codec::codec! { $($rest)* }
    };
    (@write $w:ident, $value:expr) => { $w.put($value) };
    (@write $w:ident, $value:expr, $with:ident) => { $with::write($w, $value) };
    (@read $r:ident) => { $r.get()? };
    (@read $r:ident, $with:ident) => { $with::read($r)? };
}
pub(crate) use codec;
