"use strict";
(() => {
  const all = [...document.querySelectorAll("article")];
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const fold = document.getElementById("fold");
  const texts = all.map((a) => a.textContent.toLowerCase());
  let now = -1;

  const shown = () => all.filter((a) => !a.hidden);
  const open = (node) => {
    for (let n = node; n; n = n.parentElement) if (n.tagName === "DETAILS") n.open = true;
  };
  const go = (article) => {
    if (!article) return;
    if (all[now]) all[now].classList.remove("now");
    now = all.indexOf(article);
    article.classList.add("now");
    open(article.parentElement);
    article.scrollIntoView({ block: "start" });
  };
  const step = (by) => {
    const list = shown();
    const at = list.indexOf(all[now]);
    go(list[Math.max(0, Math.min(list.length - 1, at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by))]);
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    all.forEach((a, i) => {
      a.hidden = !words.every((w) => texts[i].includes(w));
      if (words.length && !a.hidden) open(a.parentElement);
    });
    const list = shown();
    found.textContent = words.length ? `${list.length} of ${all.length}` : "";
    if (words.length && list.length) list[0].scrollIntoView({ block: "start" });
  };
  const toggle = () => {
    const folds = [...document.querySelectorAll("article details:not(.result)")];
    const opened = !folds.some((d) => d.open);
    folds.forEach((d) => { d.open = opened; });
    fold.textContent = opened ? "Fold" : "Unfold";
  };
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target) { open(target); if (target.tagName === "ARTICLE") go(target); else target.scrollIntoView(); }
  };

  search.addEventListener("input", filter);
  fold.addEventListener("click", toggle);
  document.getElementById("next").addEventListener("click", () => step(1));
  document.getElementById("previous").addEventListener("click", () => step(-1));
  addEventListener("hashchange", follow);
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target === search) {
      if (e.key === "Escape") { search.value = ""; filter(); search.blur(); }
      return;
    }
    if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "o") toggle();
    else if (e.key === "/") { e.preventDefault(); search.focus(); }
  });
  document.getElementById("bar").hidden = false;
  follow();
})();
