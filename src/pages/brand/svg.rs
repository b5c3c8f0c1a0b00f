//! The check of an SVG logo.
//!
//! A browser runs no script and loads nothing in a picture that an `<img>` shows. A logo is refused all the same if it has more
//! than shapes: somebody may open it by itself. Elements stand on a list of those allowed; a name that nobody thought of is
//! none of them.

use roxmltree::{Attribute, Document, Error, Node, ParsingOptions};

use super::unfit::Unfit;

const NAMESPACE: &str = "http://www.w3.org/2000/svg";

/// Namespaces whose elements act in a browser. Those of drawing programs do nothing.
const ACTIVE: [&str; 2] = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"];

const PLAIN: &str = "a plain SVG: shapes and text without scripts, animation, links and files from elsewhere";

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
        let style: String = node.descendants().filter_map(|part| part.text()).collect();
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
        let bitmap = element == "image" && BITMAPS.iter().any(|bitmap| value.starts_with(bitmap));
        let within = element != "image" && value.starts_with('#');
        if !bitmap && !within {
            return Err("an address in href".to_owned());
        }
    }
    refuse_loads(value)
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
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
            <use xlink:href=\"#c\" x=\"9\"/><image href=\"data:image/png;base64,AAAA\"/><text>Marigold &amp; Co</text></svg>";
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
