//! The check of an SVG logo.
//!
//! A browser runs no script and loads nothing in a picture that an `<img>` shows. A logo is refused all the same if it has more
//! than shapes: somebody may open it by itself. Elements stand on a list of those allowed; a name that nobody thought of is
//! none of them.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use roxmltree::{Attribute, Document, Error, Node, ParsingOptions};

use super::unfit::Unfit;
use super::{bitmap, drawn};

const NAMESPACE: &str = "http://www.w3.org/2000/svg";

/// Namespaces whose elements act in a browser. Those of drawing programs do nothing.
const ACTIVE: [&str; 2] = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"];

const PLAIN: &str = "a plain SVG: shapes and text without scripts, animation, links and files from elsewhere";

const FLAT: &str = "an SVG in which no <use>, mask or pattern repeats another one; drawing programs can expand them";

/// Shapes, text, and their paint: nothing that moves, links, loads or runs.
const ALLOWED: [&str; 53] = [
    "svg",
    "g",
    "defs",
    "symbol",
    "use",
    "switch",
    "title",
    "desc",
    "metadata",
    "style",
    "path",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "text",
    "tspan",
    "textPath",
    "image",
    "marker",
    "pattern",
    "mask",
    "clipPath",
    "linearGradient",
    "radialGradient",
    "stop",
    "filter",
    "feBlend",
    "feColorMatrix",
    "feComponentTransfer",
    "feComposite",
    "feConvolveMatrix",
    "feDiffuseLighting",
    "feDisplacementMap",
    "feDistantLight",
    "feDropShadow",
    "feFlood",
    "feFuncA",
    "feFuncB",
    "feFuncG",
    "feFuncR",
    "feGaussianBlur",
    "feMerge",
    "feMergeNode",
    "feMorphology",
    "feOffset",
    "fePointLight",
    "feSpecularLighting",
    "feSpotLight",
    "feTile",
    "feTurbulence",
];

/// Pictures within the picture, which are bitmaps.
const BITMAPS: [&str; 3] = [
    "data:image/png;base64,",
    "data:image/jpeg;base64,",
    "data:image/webp;base64,",
];

/// Base64 as browsers decode it, with padding or without (<https://infra.spec.whatwg.org/#forgiving-base64-decode>).
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Most elements and texts; a file of the size of a logo has fewer.
const MAX_NODES: u32 = 10_000;

/// The text of the file, if it is an SVG that only shows itself.
pub(super) fn checked(file: &[u8]) -> Result<&str, Unfit> {
    let no_picture = || Unfit::new("the file is no picture", "a PNG, JPEG, WebP or SVG file");
    let text = std::str::from_utf8(file).map_err(|_| no_picture())?;
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        return Err(no_picture());
    }
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options).map_err(|error| match error {
        Error::DtdDetected => Unfit::new("the SVG has a DOCTYPE", format!("{PLAIN}; and without a DOCTYPE")),
        other => Unfit::new(format!("the SVG cannot be read: {other}"), PLAIN),
    })?;
    if !document.root_element().has_tag_name((NAMESPACE, "svg")) {
        return Err(no_picture());
    }
    for node in document.descendants() {
        refuse(&node).map_err(|what| {
            let line = document.text_pos_at(node.range().start).row;
            Unfit::new(format!("line {line} of the SVG has {what}"), PLAIN)
        })?;
    }
    drawn::refuse_many(&document).map_err(|what| Unfit::new(format!("the SVG {what}"), FLAT))?;
    Ok(text)
}

fn refuse(node: &Node<'_, '_>) -> Result<(), String> {
    if node.is_pi() {
        return Err("an instruction <?…?>".to_owned());
    }
    if !node.is_element() {
        return Ok(());
    }
    let tag = node.tag_name();
    let active = tag
        .namespace()
        .is_none_or(|space| space.is_empty() || ACTIVE.contains(&space));
    let own = tag.namespace() == Some(NAMESPACE);
    if active || (own && !ALLOWED.contains(&tag.name())) {
        return Err(format!("a <{:.30}>", tag.name()));
    }
    if own && tag.name() == "style" {
        // The style sheet is what a browser reads: texts alone, joined over the comments and elements between them.
        let texts = node.children().filter(Node::is_text);
        let style: String = texts.filter_map(|part| part.text()).collect();
        refuse_motion(&style)?;
        refuse_loads(&style)?;
    }
    node.attributes()
        .try_for_each(|attribute| refuse_attribute(tag.name(), &attribute))
}

fn refuse_attribute(element: &str, attribute: &Attribute<'_, '_>) -> Result<(), String> {
    let (name, value) = (attribute.name().to_ascii_lowercase(), attribute.value().trim());
    // A handler has no namespace.
    if name.starts_with("on") && attribute.namespace().is_none() {
        return Err(format!("a handler {name:.30}"));
    }
    if name == "base" || name == "src" {
        return Err(format!("an address in {name}"));
    }
    if name == "href" {
        if element == "image" {
            return refuse_picture(value);
        }
        if !value.starts_with('#') {
            return Err("an address in href".to_owned());
        }
        // An id is looked up decoded.
        if value.contains('%') {
            return Err("% in href".to_owned());
        }
    }
    if name == "style" {
        refuse_motion(value)?;
    }
    refuse_loads(value)
}

/// A picture within the picture: a bitmap that does not move.
fn refuse_picture(uri: &str) -> Result<(), String> {
    let data = BITMAPS.iter().find_map(|bitmap| uri.strip_prefix(bitmap));
    let data = data.ok_or("an address in href")?;
    let data: String = data.split_ascii_whitespace().collect();
    let file = FORGIVING.decode(data).unwrap_or_default();
    if bitmap::kind(&file).is_none() {
        return Err("an <image> without a PNG, JPEG or WebP in base64".to_owned());
    }
    if bitmap::is_animated(&file) {
        return Err("an animated <image>".to_owned());
    }
    Ok(())
}

/// CSS of a style sheet or a `style`. The words are refused wherever they stand, also in names: a comment may stand between a
/// property and its colon.
fn refuse_motion(css: &str) -> Result<(), String> {
    let css = css.to_ascii_lowercase();
    for word in ["keyframes", "animation", "transition"] {
        if css.contains(word) {
            return Err(format!("{word} in a style"));
        }
    }
    Ok(())
}

/// CSS, also in attributes such as `fill`: it may point within the picture, and load nothing.
fn refuse_loads(css: &str) -> Result<(), String> {
    let css = css.to_ascii_lowercase();
    for word in [
        "\\",
        "@import",
        "@font-face",
        "image-set(",
        "image(",
        "src(",
        "javascript:",
    ] {
        if css.contains(word) {
            return Err(format!("{word} in a style"));
        }
    }
    for (at, open) in css.match_indices("url(") {
        let target = css[at + open.len()..].trim_start_matches([' ', '\t', '\n', '\r', '"', '\'']);
        if !target.starts_with('#') {
            return Err("an address in url(…)".to_owned());
        }
        // An id is looked up decoded.
        if target.split(')').next().is_some_and(|id| id.contains('%')) {
            return Err("% in url(…)".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD as STANDARD_BASE64;

    use super::*;

    fn wrong(content: &str) -> String {
        let file = format!("<svg xmlns=\"{NAMESPACE}\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n{content}</svg>");
        checked(file.as_bytes()).expect_err(content).wrong
    }

    #[test]
    fn a_usual_logo_is_taken() {
        let logo = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- drawn by hand -->\n\
            <svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
            xmlns:tool=\"http://tool.example/\" viewBox=\"0 0 20 10\"><metadata><tool:layer tool:on=\"1\"/></metadata>\
            <defs><linearGradient id=\"a\"><stop offset=\"0\" stop-color=\"#0b6b5e\"/></linearGradient></defs>\
            <style>.b{fill:url( '#a')}</style><g id=\"c\" fill=\"url(#a)\" style=\"opacity:.9\"><path class=\"b\" d=\"M0 0h9\"/></g>\
            <use xlink:href=\"#c\" x=\"9\"/><image href=\"data:image/png;base64,iVBORw0K\n GgoAAAANSUhEUg\"/><text>Marigold &amp; Co</text></svg>";
        assert_eq!(checked(logo.as_bytes()), Ok(logo));
    }

    #[test]
    fn whatever_runs_moves_links_or_loads_is_named_with_its_line() {
        for (content, what) in [
            ("<script>alert(1)</script>", "a <script>"),
            (
                "<g>\n<script href=\"data:,x\"/></g>",
                "line 3 of the SVG has a <script>",
            ),
            (
                "<h:script xmlns:h=\"http://www.w3.org/1999/xhtml\">x</h:script>",
                "a <script>",
            ),
            (
                "<foreignObject><p xmlns=\"http://www.w3.org/1999/xhtml\"/></foreignObject>",
                "a <foreignObject>",
            ),
            ("<p xmlns=\"\"/>", "a <p>"),
            ("<path onclick=\"x()\"/>", "a handler onclick"),
            ("<path ONLOAD=\"x()\"/>", "a handler onload"),
            ("<a href=\"#b\"/>", "a <a>"),
            ("<animate attributeName=\"href\"/>", "a <animate>"),
            ("<set attributeName=\"onclick\" to=\"x\"/>", "a <set>"),
            ("<iframe/>", "a <iframe>"),
            ("<SCRIPT/>", "a <SCRIPT>"),
            ("<use href=\"https://evil.example/x.svg#a\"/>", "an address in href"),
            ("<use xlink:href=\"data:image/svg+xml,x\"/>", "an address in href"),
            ("<image href=\"/x.png\"/>", "an address in href"),
            ("<image href=\"data:image/svg+xml,x\"/>", "an address in href"),
            ("<image href=\"javascript:alert(1)\"/>", "an address in href"),
            ("<g xml:base=\"https://evil.example/\"/>", "an address in base"),
            ("<style>@import 'https://evil.example/x.css'</style>", "@import"),
            (
                "<style><![CDATA[g{fill:url(//evil.example)}]]></style>",
                "an address in url(…)",
            ),
            ("<style>g{fill:u\\72l(x)}</style>", "\\ in a style"),
            (
                "<g style=\"fill:URL(https://evil.example/#a)\"/>",
                "an address in url(…)",
            ),
            ("<g fill=\"url(x.svg#a)\"/>", "an address in url(…)"),
            (
                "<style>@im<!-- x -->port 'https://evil.example/x.css'</style>",
                "@import",
            ),
            (
                "<style>g{fill:u<!-- x -->rl(https://evil.example)}</style>",
                "an address in url(…)",
            ),
            (
                "<style>g{fill:u<title>x</title>rl(https://evil.example)}</style>",
                "an address in url(…)",
            ),
            ("<style>@keyframes a{to{opacity:0}}</style>", "keyframes in a style"),
            (
                "<style>@-webkit-KEYFRAMES a{to{opacity:0}}</style>",
                "keyframes in a style",
            ),
            ("<style>g{animation:a 1s}</style>", "animation in a style"),
            ("<g style=\"animation/**/-name:a\"/>", "animation in a style"),
            ("<g style=\"Transition:all 1s\"/>", "transition in a style"),
            ("<style>g{-webkit-transition:all 1s}</style>", "transition in a style"),
            ("<image href=\"data:image/png;base64,R0lGODlh\"/>", "without a PNG"),
            ("<image href=\"data:image/png;base64,%69VBO\"/>", "without a PNG"),
            ("<image href=\"#a\"/>", "an address in href"),
            ("<use href=\"#%61\"/>", "% in href"),
            ("<g fill=\"url(#%61)\"/>", "% in url(…)"),
            ("<?xml-stylesheet href=\"x.css\"?>", "an instruction"),
            ("<g", "cannot be read"),
            ("&nbsp;", "cannot be read"),
        ] {
            assert!(wrong(content).contains(what), "{content}: {}", wrong(content));
        }
    }

    #[test]
    fn a_document_type_and_what_is_no_svg_are_refused() {
        let bomb = "<!DOCTYPE svg [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><svg xmlns=\"http://www.w3.org/2000/svg\">&b;</svg>";
        assert!(checked(bomb.as_bytes()).unwrap_err().wrong.contains("DOCTYPE"));
        for other in [
            "",
            "svg",
            "<svg/>",
            "<html xmlns=\"http://www.w3.org/1999/xhtml\"/>",
            "<g xmlns=\"http://www.w3.org/2000/svg\"/>",
        ] {
            assert!(checked(other.as_bytes()).is_err(), "{other}");
        }
        assert!(checked(b"\xff\xfe<\0s\0v\0g\0/\0>\0").is_err());
    }

    #[test]
    fn words_of_motion_outside_of_styles_and_in_comments_are_only_words() {
        for content in [
            "<title>animation</title><g id=\"transition\"/>",
            "<style><!-- no animation here -->g{fill:red}</style>",
        ] {
            let file = format!("<svg xmlns=\"{NAMESPACE}\">{content}</svg>");
            assert_eq!(checked(file.as_bytes()), Ok(file.as_str()));
        }
    }

    #[test]
    fn a_bitmap_that_moves_is_refused_within_the_picture_too() {
        let data = STANDARD_BASE64.encode(bitmap::samples::APNG);
        let image = format!("<image href=\"data:image/png;base64,{data}\"/>");
        assert!(wrong(&image).contains("line 2 of the SVG has an animated <image>"));
    }

    #[test]
    fn uses_of_uses_that_draw_thousands_are_refused_with_a_remedy() {
        let group = |level: u32| {
            format!(
                "<g id=\"l{}\">{}</g>",
                level + 1,
                format!("<use href=\"#l{level}\"/>").repeat(10)
            )
        };
        let nested: String = (0..9).map(group).collect();
        let file = format!("<svg xmlns=\"{NAMESPACE}\"><rect id=\"l0\"/>{nested}</svg>");
        let refused = checked(file.as_bytes()).unwrap_err();
        assert_eq!(
            refused.wrong,
            "the SVG draws more than 10000 elements by its references"
        );
        assert!(refused.right.contains("no <use>"), "{refused:?}");
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!(
            "<svg xmlns=\"{NAMESPACE}\">{}{}</svg>",
            "<g>".repeat(2_300),
            "</g>".repeat(2_300)
        );
        assert!(deep.len() <= crate::pages::brand::logo::MAX_LOGO);
        assert_eq!(checked(deep.as_bytes()), Ok(deep.as_str()));
    }
}
