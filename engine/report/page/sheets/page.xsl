<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: MIT -->
<!-- A report as one page: header, warnings, overview, charts, sections, details. Its input is what
     page_document.h describes. Data stands in texts alone: never in a style, a script, a link, nor in any attribute,
     where libxml2's HTML leaves <!- - as it is, up to its end. Attributes have what page_document.c has made. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" encoding="UTF-8" doctype-system="about:legacy-compat" indent="no"/>
  <xsl:strip-space elements="*"/>
  <xsl:key name="warning" match="Section[@name = 'advice']/Table[@name = 'warning']/Item" use="Data/@link"/>
  <xsl:key name="tagged" match="*[Tag][not(ancestor::Section[@name = 'advice'] and ancestor::Table[@name = 'warning'])]" use="Tag/@name"/>
  <xsl:key name="drawn" match="Chart" use="Limit/@warning"/>
  <!-- Links between a warning and its rows. -->
  <xsl:variable name="most" select="20"/>
@CHART@
  <xsl:template match="/Report">
    <xsl:variable name="advice" select="Section[@name = 'advice']"/>
    <xsl:variable name="found" select="$advice/Table[@name = 'warning']/Item"/>
    <!-- A plot is a report without rules. -->
    <xsl:variable name="checked" select="$advice or @name != 'plot'"/>
    <xsl:variable name="compares" select="@name = 'compare'"/>
    <xsl:variable name="overview" select="$advice/Table[@name != 'warning' and Item]"/>
    <xsl:variable name="charts" select="Section/Chart"/>
    <xsl:variable name="sections" select="Section[@name != 'advice' and @name != 'howMade' and Table]"/>
    <xsl:variable name="made" select="Section[@name = 'howMade' and Table]"/>
    <xsl:variable name="name">
      <xsl:choose>
        <xsl:when test="Header/Data[@name = 'set'] != ''"><xsl:value-of select="Header/Data[@name = 'set']"/></xsl:when>
        <xsl:otherwise><xsl:value-of select="@title"/></xsl:otherwise>
      </xsl:choose>
      <xsl:if test="Header/Data[@name = 'computer'] != ''">
        <xsl:text> on </xsl:text><xsl:value-of select="Header/Data[@name = 'computer']"/>
      </xsl:if>
    </xsl:variable>
    <html lang="en">
      <head>
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-@STYLE_HASH@'; script-src 'sha256-@SCRIPT_HASH@'; base-uri 'none'; form-action 'none'"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="generator" content="OpenPLA"/>
        <title><xsl:value-of select="$name"/> - report</title>
        <style>@STYLE@</style>
      </head>
      <body>
        <a class="skip" href="#main">To the report</a>
        <header>
          <h1><xsl:value-of select="$name"/></h1>
          <xsl:if test="$checked"><p class="state"><xsl:call-template name="state"><xsl:with-param name="found" select="$found"/></xsl:call-template></p></xsl:if>
          <dl class="facts">
            <xsl:for-each select="Header/Data[. != '']">
              <div>
                <dt><xsl:call-template name="fact"/></dt>
                <dd>
                  <xsl:choose>
                    <xsl:when test="@name = 'start' or @name = 'end'">
                      <xsl:call-template name="time"><xsl:with-param name="text" select="string(.)"/></xsl:call-template>
                    </xsl:when>
                    <xsl:when test="@name = 'duration'">
                      <xsl:call-template name="seconds"><xsl:with-param name="text" select="string(.)"/></xsl:call-template>
                    </xsl:when>
                    <xsl:otherwise>
                      <xsl:if test="(@name = 'eventsLost' or @name = 'buffersLost') and . &gt; 0">
                        <xsl:attribute name="class">sev warn</xsl:attribute>
                      </xsl:if>
                      <xsl:value-of select="."/>
                      <xsl:if test="@units"><xsl:value-of select="concat(' ', @units)"/></xsl:if>
                    </xsl:otherwise>
                  </xsl:choose>
                </dd>
              </div>
            </xsl:for-each>
          </dl>
        </header>
        <nav aria-label="Contents">
          <ul>
            <xsl:if test="$checked"><li><a href="#warnings">Warnings (<xsl:value-of select="count($found)"/>)</a></li></xsl:if>
            <xsl:if test="$overview"><li><a href="#overview">Overview</a></li></xsl:if>
            <xsl:if test="$charts"><li><a href="#charts">Over time</a></li></xsl:if>
            <xsl:for-each select="$sections"><li><a href="#{@id}"><xsl:value-of select="@title"/></a></li></xsl:for-each>
            <li><a href="#made">About this report</a></li>
          </ul>
        </nav>
        <main id="main">
          <xsl:if test="Damage">
            <section aria-labelledby="damage">
              <h2 id="damage">Parts of this report are missing</h2>
              <xsl:for-each select="Damage"><p class="damage"><xsl:value-of select="."/></p></xsl:for-each>
            </section>
          </xsl:if>
          <xsl:if test="$checked">
          <section aria-labelledby="warnings">
            <h2 id="warnings">Warnings</h2>
            <xsl:choose>
              <xsl:when test="$found">
                <ol class="warnings">
                  <xsl:apply-templates mode="warning" select="$found"><xsl:sort select="@number" data-type="number"/></xsl:apply-templates>
                </ol>
                <xsl:apply-templates mode="cut" select="$advice/Table[@name = 'warning']"/>
                <xsl:variable name="timed" select="$found[Data[@name = 'first'] != '']"/>
                <xsl:if test="count($timed) &gt; 1">
                  <h3 id="bytime">By time</h3>
                  <ol class="bytime" aria-labelledby="bytime">
                    <xsl:for-each select="$timed">
                      <xsl:sort select="Data[@name = 'first']"/>
                      <xsl:sort select="@number" data-type="number"/>
                      <li><xsl:value-of select="concat(Data[@name = 'when'], ': ')"/><a href="#w{@number}"><xsl:value-of select="concat(@number, ': ', Data[@name = 'symptom'])"/></a></li>
                    </xsl:for-each>
                  </ol>
                </xsl:if>
              </xsl:when>
              <xsl:when test="$advice/Table[@name = 'warning']/@note">
                <p class="quiet"><xsl:value-of select="$advice/Table[@name = 'warning']/@note"/><xsl:text/>
                  <xsl:if test="not($compares)"> Rules of your own can check it: openpla report ... -html -rules FILE.</xsl:if></p>
              </xsl:when>
              <xsl:when test="$advice/Table[@name = 'warning']"><p class="nothing">The rules found no problems in this report.</p></xsl:when>
              <xsl:otherwise><p class="quiet">This report has not been checked by rules.</p></xsl:otherwise>
            </xsl:choose>
          </section>
          </xsl:if>
          <xsl:if test="$overview">
            <section aria-labelledby="overview">
              <h2 id="overview">Overview</h2>
              <xsl:apply-templates select="$overview"/>
            </section>
          </xsl:if>
          <xsl:if test="$charts">
            <section aria-labelledby="charts">
              <h2 id="charts">Over time</h2>
              <p class="quiet">
                <xsl:variable name="zone"><xsl:call-template name="zone"><xsl:with-param name="text" select="string($charts[1]/@start)"/></xsl:call-template></xsl:variable>
                <xsl:if test="$zone != ''"><span id="zone"><xsl:value-of select="concat('Times are ', $zone, '. ')"/></span></xsl:if>
                <xsl:if test="$charts/Series/@band">A line is the mean, and the band around it reaches from the minimum to the maximum. </xsl:if>
                <xsl:text>A gap in a line means that there are no values.</xsl:text>
              </p>
              <xsl:apply-templates select="$charts"/>
              <xsl:if test="Omitted/@charts &gt; 0">
                <p class="quiet">This page shows <xsl:value-of select="count($charts)"/> charts; <xsl:value-of select="Omitted/@charts"/> more are in the report document.</p>
              </xsl:if>
            </section>
          </xsl:if>
          <xsl:for-each select="$sections">
            <section aria-labelledby="{@id}">
              <h2 id="{@id}"><xsl:value-of select="@title"/></h2>
              <xsl:if test="@note"><p><xsl:value-of select="@note"/></p></xsl:if>
              <xsl:apply-templates select="Table"/>
            </section>
          </xsl:for-each>
          <section aria-labelledby="made">
            <h2 id="made">About this report</h2>
            <xsl:if test="$compares"><p>Compared by openpla compare: a Mann-Whitney test over means of slices of the time, with a variance widened by their correlation, at a false discovery rate of 5 %.</p></xsl:if>
            <xsl:if test="$checked and not($compares)"><p>Report schema: <xsl:value-of select="@title"/>. The report document next to this page contains the numbers without rounding.</p></xsl:if>
            <xsl:if test="@complete = '0'"><p>The collection stopped before it was complete.</p></xsl:if>
            <xsl:if test="Omitted/@tables &gt; 0">
              <p><xsl:value-of select="Omitted/@tables"/> more tables are in the report document; they do not fit on this page.</p>
            </xsl:if>
            <xsl:apply-templates select="$made/Table"/>
          </section>
        </main>
        <footer><p>Created by OpenPLA.@LIBRARY@</p></footer>
        <xsl:if test="Waves"><div id="waves" hidden=""><xsl:value-of select="Waves"/></div></xsl:if>
        <script>@SCRIPT@</script>
      </body>
    </html>
  </xsl:template>

  <xsl:template name="fact">
    <xsl:choose>
      <xsl:when test="@name = 'computer'">Computer</xsl:when>
      <xsl:when test="@name = 'memory'">Memory</xsl:when>
      <xsl:when test="@name = 'set'">Data collector set</xsl:when>
      <xsl:when test="@name = 'start'">From</xsl:when>
      <xsl:when test="@name = 'end'">To</xsl:when>
      <xsl:when test="@name = 'duration'">Duration</xsl:when>
      <xsl:when test="@name = 'samples'">Samples</xsl:when>
      <xsl:when test="@name = 'gaps'">Gaps</xsl:when>
      <xsl:when test="@name = 'names'">Names</xsl:when>
      <xsl:when test="@name = 'events'">Events</xsl:when>
      <xsl:when test="@name = 'eventsLost'">Events lost</xsl:when>
      <xsl:when test="@name = 'buffersLost'">Buffers lost</xsl:when>
      <xsl:otherwise><xsl:value-of select="@name"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- ==== warnings ==== -->

  <!-- The summary line: the number of warnings of each severity. -->
  <xsl:template name="state">
    <xsl:param name="found"/>
    <xsl:variable name="bad" select="count($found[@severity = 'error'])"/>
    <xsl:variable name="good" select="count($found[@severity = 'good' or @severity = 'information'])"/>
    <xsl:choose>
      <xsl:when test="$bad"><span class="sev bad"><xsl:value-of select="$bad"/> critical</span></xsl:when>
      <xsl:when test="not($found)"/>
      <xsl:when test="count($found) &gt; $good"/>
      <xsl:otherwise><span class="sev good">No critical problems</span></xsl:otherwise>
    </xsl:choose>
    <xsl:if test="count($found) - $bad - $good &gt; 0">
      <xsl:text> </xsl:text>
      <span class="sev warn">
        <xsl:value-of select="count($found) - $bad - $good"/>
        <xsl:choose><xsl:when test="count($found) - $bad - $good = 1"> warning</xsl:when><xsl:otherwise> warnings</xsl:otherwise></xsl:choose>
      </span>
    </xsl:if>
    <xsl:if test="not($found)">
      <xsl:choose>
        <xsl:when test="Section[@name = 'advice']/Table[@name = 'warning']/@note">
          <span class="sev info"><xsl:value-of select="Section[@name = 'advice']/Table[@name = 'warning']/@note"/></span>
        </xsl:when>
        <xsl:when test="Section[@name = 'advice']/Table[@name = 'warning']"><span class="sev good">No problems found</span></xsl:when>
        <xsl:otherwise><span class="quiet">Not checked by rules</span></xsl:otherwise>
      </xsl:choose>
    </xsl:if>
  </xsl:template>

  <xsl:template name="severity-class">
    <xsl:param name="severity"/>
    <xsl:choose>
      <xsl:when test="$severity = 'error'">bad</xsl:when>
      <xsl:when test="$severity = 'warning'">warn</xsl:when>
      <xsl:when test="$severity = 'good'">good</xsl:when>
      <xsl:otherwise>info</xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Icon and word of a severity; the class sets the colour. -->
  <xsl:template name="severity">
    <xsl:param name="severity"/>
    <xsl:variable name="class"><xsl:call-template name="severity-class"><xsl:with-param name="severity" select="$severity"/></xsl:call-template></xsl:variable>
    <span class="sev {$class}">
      <xsl:choose>
        <xsl:when test="$class = 'bad'">Critical</xsl:when>
        <xsl:when test="$class = 'warn'">Warning</xsl:when>
        <xsl:when test="$class = 'good'">Good</xsl:when>
        <xsl:otherwise>Note</xsl:otherwise>
      </xsl:choose>
    </span>
  </xsl:template>

  <xsl:template match="Item" mode="warning">
    <xsl:variable name="class"><xsl:call-template name="severity-class"><xsl:with-param name="severity" select="@severity"/></xsl:call-template></xsl:variable>
    <li class="{$class}" id="w{@number}">
      <h3>
        <xsl:call-template name="severity"><xsl:with-param name="severity" select="@severity"/></xsl:call-template>
        <xsl:value-of select="concat(' ', @number, ': ', Data[@name = 'symptom'])"/>
      </h3>
      <xsl:variable name="more" select="Data[@name != 'symptom' and . != '' and not(../Data[@name = 'when'] and contains(' first last seconds worst worstAt ', concat(' ', @name, ' ')))]"/>
      <xsl:if test="$more">
        <dl>
          <xsl:for-each select="$more">
            <dt>
              <xsl:choose>
                <xsl:when test="@name = 'when'">When</xsl:when>
                <xsl:when test="@name = 'cause'">Cause</xsl:when>
                <xsl:when test="@name = 'details'">Details</xsl:when>
                <xsl:when test="@name = 'resolution'">What to do</xsl:when>
                <xsl:otherwise><xsl:value-of select="@name"/></xsl:otherwise>
              </xsl:choose>
            </dt>
            <dd><xsl:value-of select="."/></dd>
          </xsl:for-each>
        </dl>
      </xsl:if>
      <xsl:variable name="at" select="key('tagged', Data/@link)[@id]"/>
      <xsl:if test="$at">
        <p>
          <xsl:text>Seen in: </xsl:text>
          <xsl:for-each select="$at[position() &lt;= $most]">
            <xsl:if test="position() &gt; 1">, </xsl:if>
            <a href="#{@id}">
              <xsl:value-of select="ancestor-or-self::Table[last()]/@title"/>
              <xsl:if test="self::Data">
                <xsl:value-of select="concat(': ', ../Data[1], ' ', self::*[preceding-sibling::Data] | self::*[not(preceding-sibling::Data)]/following-sibling::Data[1])"/>
              </xsl:if>
            </a>
          </xsl:for-each>
          <xsl:if test="count($at) &gt; $most"><xsl:value-of select="concat(' and ', count($at) - $most, ' more')"/></xsl:if>
        </p>
      </xsl:if>
      <xsl:variable name="drawn" select="key('drawn', @number)"/>
      <xsl:if test="$drawn">
        <p>
          <xsl:text>Over time: </xsl:text>
          <xsl:for-each select="$drawn">
            <xsl:if test="position() &gt; 1">, </xsl:if>
            <a href="#{@id}"><xsl:call-template name="chart-title"/></a>
          </xsl:for-each>
        </p>
      </xsl:if>
    </li>
  </xsl:template>

  <!-- ==== charts ==== -->

  <xsl:template match="Chart">
    <figure id="{@id}">
      <figcaption><h3 id="{@id}h"><xsl:call-template name="chart-title"/></h3></figcaption>
      <div class="plot">
        <div class="marks" aria-hidden="true"><xsl:for-each select="Mark"><span><xsl:value-of select="."/></span></xsl:for-each></div>
        <svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{@id}t {@id}d" viewBox="0 0 {@width} {@height}" preserveAspectRatio="none">
          <title id="{@id}t"><xsl:call-template name="chart-title"/></title>
          <desc id="{@id}d"><xsl:call-template name="chart-words"/></desc>
          <xsl:call-template name="drawing"/>
        </svg>
        <!-- The page's policy allows no style here, but widths of columns. -->
        <table class="times" role="presentation" aria-hidden="true">
          <tr>
            <xsl:if test="Time[1]/@x &gt; 0"><td width="{Time[1]/@x div 10}%"/></xsl:if>
            <xsl:for-each select="Time">
              <xsl:variable name="wide"><xsl:call-template name="gap"/></xsl:variable>
              <td width="{$wide div 10}%"><xsl:if test="$wide &gt;= 60"><xsl:value-of select="."/></xsl:if></td>
            </xsl:for-each>
          </tr>
        </table>
      </div>
      <xsl:if test="@empty"><p class="quiet">No values.</p></xsl:if>
      <ul class="legend">
        <!-- A single line has the title's name. -->
        <xsl:for-each select="Series[count(../Series) &gt; 1 or @name != ../@counter]">
          <li class="line">
            <svg xmlns="http://www.w3.org/2000/svg" aria-hidden="true" viewBox="0 0 40 8"><path class="s{@number}" d="M1 4h38"/></svg>
            <xsl:value-of select="@name"/>
          </li>
        </xsl:for-each>
        <xsl:for-each select="Limit[@y or @warning]">
          <li>
            <xsl:if test="@y">
              <svg xmlns="http://www.w3.org/2000/svg" aria-hidden="true" viewBox="0 0 40 8"><path class="limit" d="M1 4h38"/></svg>
              <xsl:value-of select="concat('Limit ', @value)"/>
              <xsl:if test="@warning"> of </xsl:if>
            </xsl:if>
            <xsl:if test="@warning"><a class="back" href="#w{@warning}"><xsl:value-of select="concat('warning ', @warning)"/></a></xsl:if>
          </li>
        </xsl:for-each>
      </ul>
      <xsl:if test="@omitted &gt; 0"><p class="quiet"><xsl:value-of select="@omitted"/> more series are in the report itself.</p></xsl:if>
      <details>
        <summary>The numbers<span class="unseen"> of <xsl:call-template name="chart-title"/></span></summary>
        <div class="scroll" role="group" tabindex="0" aria-labelledby="{@id}h">
          <table aria-labelledby="{@id}h">
            <thead><tr><th scope="col">Series</th><th scope="col" class="n">Minimum</th><th scope="col" class="n">Maximum</th><th scope="col" class="n">Last</th></tr></thead>
            <tbody>
              <xsl:for-each select="Series">
                <tr>
                  <th scope="row"><xsl:value-of select="@name"/></th>
                  <td class="n"><xsl:value-of select="@least"/></td>
                  <td class="n"><xsl:value-of select="@greatest"/></td>
                  <td class="n"><xsl:value-of select="@last"/></td>
                </tr>
              </xsl:for-each>
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  </xsl:template>

  <!-- From a label to the next one, or to the end. -->
  <xsl:template name="gap">
    <xsl:choose>
      <xsl:when test="following-sibling::Time"><xsl:value-of select="following-sibling::Time[1]/@x - @x"/></xsl:when>
      <xsl:otherwise><xsl:value-of select="../@width - @x"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- ==== tables ==== -->

  <xsl:template match="Table" mode="cut">
    <xsl:if test="Omitted">
      <p class="quiet">The first <xsl:value-of select="Omitted/@shown"/> of <xsl:value-of select="Omitted/@rows"/> rows<xsl:text/>
        <xsl:text>; all rows are in the report document.</xsl:text></p>
    </xsl:if>
  </xsl:template>

  <xsl:template match="Table">
    <xsl:variable name="rows" select="count(Item)"/>
    <xsl:variable name="open">
      <xsl:choose>
        <xsl:when test="@threshold"><xsl:value-of select="@threshold"/></xsl:when>
        <xsl:otherwise>25</xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <xsl:variable name="folds" select="$rows &gt; $open and not(parent::Item)"/>
    <xsl:variable name="labels">
      <xsl:choose>
        <xsl:when test="parent::Item"/>
        <xsl:when test="../@name = 'advice'">overview </xsl:when>
        <xsl:when test="../@name = 'howMade'">made </xsl:when>
        <xsl:otherwise><xsl:value-of select="concat(../@id, ' ')"/></xsl:otherwise>
      </xsl:choose>
      <xsl:value-of select="concat(@id, 'h')"/>
    </xsl:variable>
    <div class="block" id="{@id}">
      <xsl:if test="not(parent::Item)">
        <h3 id="{@id}h"><xsl:value-of select="@title"/></h3>
        <xsl:if test="@note"><p><xsl:value-of select="@note"/></p></xsl:if>
        <xsl:if test="@source != @title and @source != @name"><p class="quiet"><xsl:value-of select="@source"/></p></xsl:if>
        <xsl:if test="@local"><p class="quiet"><xsl:value-of select="concat('In the log: ', @local)"/></p></xsl:if>
        <xsl:if test="Tag"><p><xsl:call-template name="back"/></p></xsl:if>
      </xsl:if>
      <xsl:choose>
        <xsl:when test="not(Item)"><p class="quiet">No rows.</p></xsl:when>
        <xsl:otherwise>
          <xsl:if test="$folds">
            <input type="checkbox" class="all" id="{@id}a"/>
            <label for="{@id}a">All <xsl:value-of select="$rows"/> rows<span class="quiet"> of <xsl:value-of select="@title"/></span></label>
          </xsl:if>
          <div class="scroll" role="group" tabindex="0" aria-labelledby="{$labels}">
            <table class="rows" aria-labelledby="{$labels}">
              <xsl:if test="$folds"><xsl:attribute name="data-shown"><xsl:value-of select="$open"/></xsl:attribute></xsl:if>
              <xsl:if test="Header/Data"><xsl:apply-templates select="Header"/></xsl:if>
              <tbody>
                <xsl:for-each select="Item">
                  <xsl:variable name="more" select="$folds and position() &gt; $open"/>
                  <tr>
                    <xsl:if test="$more"><xsl:attribute name="class">more</xsl:attribute></xsl:if>
                    <xsl:apply-templates select="Data"/>
                  </tr>
                  <xsl:if test="Table/Item">
                    <tr class="sub">
                      <xsl:if test="$more"><xsl:attribute name="class">sub more</xsl:attribute></xsl:if>
                      <td colspan="{count(Data)}"><xsl:apply-templates select="Table[Item]" mode="within"/></td>
                    </tr>
                  </xsl:if>
                </xsl:for-each>
              </tbody>
              <xsl:if test="Footer"><tfoot><tr><xsl:apply-templates select="Footer/Data"/></tr></tfoot></xsl:if>
            </table>
          </div>
        </xsl:otherwise>
      </xsl:choose>
      <xsl:apply-templates mode="cut" select="."/>
    </div>
  </xsl:template>

  <xsl:template match="Table" mode="within">
    <details>
      <summary id="{@id}h"><xsl:value-of select="concat(@title, ' of ', ../Data[1], ' (', count(Item), ')')"/></summary>
      <xsl:apply-templates select="."/>
    </details>
  </xsl:template>

  <xsl:template match="Table/Header">
    <thead>
      <tr>
        <xsl:for-each select="Data">
          <th scope="col">
            <xsl:if test="@number"><xsl:attribute name="class">n</xsl:attribute></xsl:if>
            <xsl:if test="@sort = 'primary'">
              <xsl:attribute name="aria-sort">
                <xsl:choose>
                  <xsl:when test="@order = 'ascending'">ascending</xsl:when>
                  <xsl:otherwise>descending</xsl:otherwise>
                </xsl:choose>
              </xsl:attribute>
            </xsl:if>
            <xsl:value-of select="@title"/>
            <xsl:if test="@units"><xsl:value-of select="concat(' (', @units, ')')"/></xsl:if>
            <xsl:if test="@note"><span class="note"><xsl:value-of select="@note"/></span></xsl:if>
          </th>
        </xsl:for-each>
      </tr>
    </thead>
  </xsl:template>

  <xsl:template name="back">
    <xsl:variable name="found" select="key('warning', Tag/@name)"/>
    <xsl:for-each select="$found">
      <xsl:sort select="@number" data-type="number"/>
      <xsl:if test="position() &lt;= $most">
        <xsl:text> </xsl:text>
        <a class="back" href="#w{@number}"><xsl:value-of select="concat('warning ', @number)"/></a>
      </xsl:if>
    </xsl:for-each>
    <xsl:if test="count($found) &gt; $most">
      <xsl:text> </xsl:text>
      <a class="back" href="#warnings"><xsl:value-of select="concat(count($found) - $most, ' more')"/></a>
    </xsl:if>
  </xsl:template>

  <xsl:template name="cell">
    <xsl:if test="@id"><xsl:attribute name="id"><xsl:value-of select="@id"/></xsl:attribute></xsl:if>
    <xsl:if test="@number"><xsl:attribute name="class">n</xsl:attribute></xsl:if>
    <xsl:choose>
      <xsl:when test="@raw"><xsl:attribute name="data-v"><xsl:value-of select="@raw"/></xsl:attribute></xsl:when>
      <xsl:when test="@number and (@units or Tag)"><xsl:attribute name="data-v"><xsl:value-of select="."/></xsl:attribute></xsl:when>
    </xsl:choose>
    <xsl:if test="@severity">
      <xsl:call-template name="severity"><xsl:with-param name="severity" select="@severity"/></xsl:call-template>
      <xsl:text> </xsl:text>
    </xsl:if>
    <xsl:choose>
      <xsl:when test="@local"><xsl:value-of select="@local"/><br/><span class="quiet"><xsl:value-of select="."/></span></xsl:when>
      <xsl:otherwise><xsl:value-of select="."/></xsl:otherwise>
    </xsl:choose>
    <xsl:if test="@units and . != ''"><xsl:value-of select="concat(' ', @units)"/></xsl:if>
    <xsl:if test="@bar">
      <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width="{@bar}" height="6"/></svg>
    </xsl:if>
    <xsl:if test="Tag"><xsl:call-template name="back"/></xsl:if>
  </xsl:template>

  <xsl:template match="Item[count(Data) &gt; 1]/Data[1]"><th scope="row"><xsl:call-template name="cell"/></th></xsl:template>
  <xsl:template match="Data"><td><xsl:call-template name="cell"/></td></xsl:template>
</xsl:stylesheet>
